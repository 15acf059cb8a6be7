// Light, dark, or as the system has it. Kept by the provider in local storage.

import { SegmentedControl, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";

const CHOICES: { value: MantineColorScheme; label: string }[] = [
  { value: "auto", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  return <SegmentedControl fullWidth aria-label="Appearance" data-testid="theme" data={CHOICES} value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)} />;
}
