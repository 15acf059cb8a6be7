// Which Debian packages the project needs, and their installation. Nothing else is installed system-wide.

import { existsSync } from "node:fs";
import { run, must, Stop } from "./run.mjs";

/** What is needed to build and to run the app. */
export const forUse = [
  "build-essential",
  "pkg-config",
  "libwebkit2gtk-4.1-dev", // the window's web engine; brings GTK and D-Bus
  "libayatana-appindicator3-1", // the tray, loaded at run time
  "fonts-dejavu-core",
  "bubblewrap", // the sandbox of servers
];

/** What only the tests need. */
export const forTests = [
  "xvfb",
  "xauth",
  "dbus",
  "webkit2gtk-driver", // drives the real window
  "gnome-keyring",
  "imagemagick",
  "xdotool",
  "chromium",
  "zsh", // login shells whose PATH is read
  "fish",
  "strace", // stops a write in the middle
  "python3-venv",
  "libcap2-bin",
  "util-linux", // setpriv and unshare: permission cases under another user
];

/** The packages of `wanted` that are not installed. */
export async function missing(wanted) {
  const { output } = await run("dpkg-query", ["-W", "-f", "${db:Status-Status} ${Package}\n", ...wanted], {
    quiet: true,
  });
  const installed = new Set(
    output.split("\n").flatMap((line) => (line.startsWith("installed ") ? [line.split(" ")[1]] : [])),
  );
  return wanted.filter((name) => !installed.has(name));
}

/** The line that a person would type to install them. */
export const installLine = (names) =>
  `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names.join(" ")}`;

/** `[]` for root, `["sudo", "-n"]` where sudo asks no password, else `null`. */
async function elevation() {
  if (process.getuid?.() === 0) return [];
  const { code } = await run("sudo", ["-n", "true"], { quiet: true });
  return code === 0 ? ["sudo", "-n"] : null;
}

/** Installs what is missing of `wanted`; stops with the line to type where that isn't allowed. */
export async function installPackages(wanted) {
  if (process.platform !== "linux") return;
  if (!existsSync("/usr/bin/apt-get")) {
    const { code } = await run("pkg-config", ["--exists", "webkit2gtk-4.1"], { quiet: true });
    if (code === 0) return;
    throw new Stop(
      `This Linux has no apt. Install what these Debian packages hold, then try again:\n  ${wanted.join(" ")}`,
    );
  }
  const names = await missing(wanted);
  if (names.length === 0) return;
  const prefix = await elevation();
  if (prefix === null) {
    throw new Stop(`These system packages are missing. Install them, then try again:\n  ${installLine(names)}`);
  }
  console.log(`Installing system packages: ${names.join(" ")}`);
  const [command, ...args] = [...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
  const quiet = { quiet: true };
  // A runner that other jobs share may hold the lock for a while.
  const lock = ["-o", "DPkg::Lock::Timeout=300"];
  await must(command, [...args, ...lock, "update"], quiet);
  await must(command, [...args, ...lock, "install", "-y", "--no-install-recommends", ...names], quiet);
}
