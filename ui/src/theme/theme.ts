// How the component library looks here: our colours, small sizes, no transitions.

import { Button, Checkbox, Modal, Radio, SegmentedControl, TextInput, Textarea, createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

const petrol: MantineColorsTuple = ["#eef6f6", "#d9e8e7", "#b3d4d3", "#8abec0", "#62a7ab", "#3f9097", "#2b7b83", "#1d6a72", "#155158", "#0d3b41"];

const panel = { backgroundColor: "var(--pb-panel)" };
const tick = { borderColor: "var(--pb-line-strong)" };
const label = { marginBottom: 4 };
const description = { marginBottom: 2, color: "var(--pb-muted)" };

export const theme = createTheme({
  colors: { petrol },
  primaryColor: "petrol",
  primaryShade: 7,
  fontFamily: "var(--pb-font)",
  fontFamilyMonospace: "var(--pb-mono)",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "19px" },
  radius: { sm: "5px", md: "8px" },
  defaultRadius: "sm",
  respectReducedMotion: true,
  cursorType: "pointer",
  components: {
    Button: Button.extend({ defaultProps: { size: "xs", variant: "default" } }),
    // Shown at once: a dialog that is still fading in can be missed, and clicked by mistake.
    Modal: Modal.extend({ defaultProps: { centered: true, transitionProps: { duration: 0 }, overlayProps: { backgroundOpacity: 0.45 }, padding: "lg" }, styles: { content: panel, header: panel, title: { fontSize: 16, fontWeight: 620 } } }),
    SegmentedControl: SegmentedControl.extend({
      defaultProps: { size: "xs", transitionDuration: 0 },
      styles: { root: { backgroundColor: "var(--pb-well)" }, indicator: { backgroundColor: "var(--pb-raised)" } },
    }),
    Checkbox: Checkbox.extend({ styles: { input: tick } }),
    Radio: Radio.extend({ styles: { radio: tick } }),
    TextInput: TextInput.extend({ defaultProps: { size: "sm" }, styles: { label, description } }),
    Textarea: Textarea.extend({ defaultProps: { size: "sm" }, styles: { label, description } }),
  },
});

const colours = {
  "--mantine-color-body": "var(--pb-ground)",
  "--mantine-color-text": "var(--pb-text)",
  "--mantine-color-dimmed": "var(--pb-muted)",
  "--mantine-color-placeholder": "var(--pb-muted)",
  "--mantine-color-error": "var(--pb-failed)",
  "--mantine-color-default": "var(--pb-panel)",
  "--mantine-color-default-hover": "var(--pb-sunken)",
  "--mantine-color-default-color": "var(--pb-text)",
  "--mantine-color-default-border": "var(--pb-line-strong)",
  "--mantine-primary-color-filled": "var(--pb-accent)",
  "--mantine-primary-color-filled-hover": "var(--pb-accent-strong)",
  "--mantine-color-petrol-filled": "var(--pb-accent)",
  "--mantine-color-petrol-filled-hover": "var(--pb-accent-strong)",
};

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: colours, dark: colours });
