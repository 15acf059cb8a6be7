// The app over an owner that lives in the page. The order matters: the bridge must stand before the app asks.

import "./bridge";
import "../../src/main";
