// Package guestcode reads the binaries of WebAssembly guests, as far as hosts have to look at them before wazero does:
// sections, and the numbers in them by which wazero takes memory.
package guestcode
