//! npx and uvx start servers from filled caches, offline, inside the sandbox. The packages come from a registry on
//! this machine that is gone by then.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use serde_json::{Value, json};

use super::house::{BOTH, House, PYTHON};

/// Serves a few bodies by path until it is dropped.
struct Registry {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

type Bodies = Vec<(String, &'static str, Vec<u8>)>;

impl Registry {
    fn new(bodies: impl FnOnce(SocketAddr) -> Bodies) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bodies = bodies(address);
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let server = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                // A client that goes away in between is no concern of the registry.
                let _ = answer(&stream, &bodies);
            }
        });
        Self { address, over, server: Some(server) }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(server) = self.server.take() {
            server.join().unwrap();
        }
    }
}

fn answer(mut stream: &TcpStream, bodies: &Bodies) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default();
    let found = bodies.iter().find(|(of, ..)| of == path);
    let (status, kind, body) = match found {
        Some((_, kind, body)) => ("200 OK", *kind, body.as_slice()),
        None => ("404 Not Found", "text/plain", b"none".as_slice()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )?;
    stream.write_all(body)
}

/// Runs something outside of any sandbox, in the house's home.
fn outside(house: &House, program: &Path, args: &[&str], folder: &Path) -> String {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env_clear().env("HOME", &house.home).env("TMPDIR", &house.temp);
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{program:?} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn npx_starts_a_server_from_its_cache_offline() {
    let mut house = House::new();
    house.inputs.allow_network = false;
    let package = house.root.path().join("package");
    fs::create_dir_all(&package).unwrap();
    let manifest =
        json!({"name": "patchbay-probe", "version": "1.0.0", "bin": {"patchbay-probe": "server.js"}});
    fs::write(package.join("package.json"), manifest.to_string()).unwrap();
    fs::write(package.join("server.js"), "#!/usr/bin/env node\nconsole.log('served by npx')\n").unwrap();
    let packed = outside(&house, Path::new("/usr/bin/npm"), &["pack", "--json"], &package);
    let packed: Value = serde_json::from_str(&packed).unwrap();
    let packed = if packed.is_array() { packed[0].clone() } else { packed["patchbay-probe"].clone() };
    let tarball = fs::read(package.join(packed["filename"].as_str().unwrap())).unwrap();
    let registry = Registry::new(|address| {
        let mut version = manifest.clone();
        version["dist"] = json!({
            "tarball": format!("http://{address}/patchbay-probe-1.0.0.tgz"),
            "integrity": packed["integrity"],
            "shasum": packed["shasum"],
        });
        let document = json!({"name": "patchbay-probe", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}});
        vec![
            ("/patchbay-probe".into(), "application/json", document.to_string().into_bytes()),
            ("/patchbay-probe-1.0.0.tgz".into(), "application/octet-stream", tarball),
        ]
    });
    let from = format!("--registry=http://{}/", registry.address);
    outside(&house, Path::new("/usr/bin/npm"), &["cache", "add", "patchbay-probe@1.0.0", &from], &house.home);
    drop(registry);
    for backend in BOTH {
        let output = house.run(backend, "/usr/bin/npx", &["--offline", "-y", &from, "patchbay-probe@1.0.0"]);
        assert_eq!(output.stdout, "served by npx\n", "{backend}: {}", output.stderr);
        // The next back end has to install it anew.
        fs::remove_dir_all(house.home.join(".npm/_npx")).unwrap();
    }
}

/// The tests' own uv: `PATCHBAY_TEST_UV`, or what the project's set-up installed.
pub fn uv() -> PathBuf {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/venv/bin/uv");
    let uv = std::env::var_os("PATCHBAY_TEST_UV").map_or(installed, PathBuf::from);
    assert!(uv.exists(), "there is no {}: run `npm test`, which installs it", uv.display());
    uv
}

/// Builds a wheel of one module, as Python's own tools would.
const BUILD_WHEEL: &str = r#"
import base64, hashlib, sys, zipfile
files = {
    "patchbay_probe.py": "def main():\n    print('served by uvx')\n",
    "patchbay_probe-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: patchbay-probe\nVersion: 1.0.0\n",
    "patchbay_probe-1.0.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "patchbay_probe-1.0.0.dist-info/entry_points.txt": "[console_scripts]\npatchbay-probe = patchbay_probe:main\n",
}
record = "patchbay_probe-1.0.0.dist-info/RECORD"
lines = []
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(text)}")
        wheel.writestr(name, text)
    wheel.writestr(record, "\n".join([*lines, f"{record},,", ""]))
"#;

#[test]
fn uvx_starts_a_server_from_its_cache_offline() {
    let mut house = House::new();
    house.inputs.allow_network = false;
    let uvx = uv().with_file_name("uvx");
    let name = "patchbay_probe-1.0.0-py3-none-any.whl";
    let wheel = house.root.path().join(name);
    outside(&house, Path::new(PYTHON), &["-c", BUILD_WHEEL, wheel.to_str().unwrap()], &house.home);
    let registry = Registry::new(|_| {
        let page = format!("<!DOCTYPE html><a href=\"/files/{name}\">{name}</a>");
        vec![
            ("/simple/patchbay-probe/".into(), "text/html", page.into_bytes()),
            (format!("/files/{name}"), "application/octet-stream", fs::read(&wheel).unwrap()),
        ]
    });
    let index = format!("http://{}/simple", registry.address);
    let args = ["--python", PYTHON, "--no-python-downloads", "--default-index", &index, "patchbay-probe"];
    assert_eq!(outside(&house, &uvx, &args, &house.home), "served by uvx\n");
    drop(registry);
    for backend in BOTH {
        let args = [["--offline"].as_slice(), &args].concat();
        let output = house.run(backend, uvx.to_str().unwrap(), &args);
        assert_eq!(output.stdout, "served by uvx\n", "{backend}: {}", output.stderr);
    }
}
