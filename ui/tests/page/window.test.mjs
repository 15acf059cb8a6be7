// The window's pages in a real browser engine. One build and one browser serve all of them.

import "./servers.mjs";
import "./form.mjs";
import "./workspaces.mjs";
import "./trust.mjs";
import "./shell.mjs";
import "./looks.mjs";
