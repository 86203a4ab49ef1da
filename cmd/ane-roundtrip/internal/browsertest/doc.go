// Package browsertest has tests look at pages in a headless browser, over the DevTools protocol on two pipes. It drives
// Chromium or Chrome; tests are skipped, with the reason, where there is none.
package browsertest
