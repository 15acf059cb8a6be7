import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Relative to this folder: `vite build ui` and the tests' builds share it.
export default defineConfig({
  plugins: [react()],
  clearScreen: false,
  build: {
    // What WebKitGTK 2.36 and the Safari of macOS 12 understand.
    target: "safari15",
    // A `data:` font would need a wider content security policy than the app has.
    assetsInlineLimit: 0,
    emptyOutDir: true,
  },
  server: { port: 1420, strictPort: true },
});
