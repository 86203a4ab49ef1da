// Package guestcode reads the binaries of WebAssembly guests, as far as a host must before wazero does. It reads the
// sections, and the numbers by which wazero allocates memory.
package guestcode
