// Whether a dialog is open: keyboard shortcuts of the page below then rest.

export function dialogIsOpen(): boolean {
  return document.querySelector('[aria-modal="true"]') !== null;
}
