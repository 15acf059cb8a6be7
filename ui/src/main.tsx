// Starts the window: fonts, styles, the owner's state, the app.

import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./theme/mantine.css";
import "./theme/tokens.css";

import { MantineProvider, localStorageColorSchemeManager } from "@mantine/core";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { follow } from "./backend";
import { App } from "./features/shell/App";
import { cssVariables, theme } from "./theme/theme";

const colorScheme = localStorageColorSchemeManager({ key: "patchbay-color-scheme" });

const root = document.getElementById("root");
if (root !== null) {
  void follow();
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} colorSchemeManager={colorScheme} defaultColorScheme="auto">
        <App />
      </MantineProvider>
    </StrictMode>,
  );
}
