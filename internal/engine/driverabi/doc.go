// Package driverabi is the contract of the kernel driver of Apple's Neural Engine, as data. It has the selectors of
// both user clients with their exact sizes, the fields of their structures, return codes and entitlements. It is pure
// Go and calls no operating system.
//
// # Sources
//
// "Table 27.x" and "listing 27.x" are those of chapter 27, "Kernel driver and IOKit ABI", of the public ANE guide
// (https://github.com/sbryngelson/ane-guide, M1). docs/FACTS.md has what other projects found, with their addresses.
//
// # Structures
//
// A structure is its bytes, which are read and written where they lie. Its fields are the
// constants of its prefix, of type [Field32] or [Field64] after their width: offsets, all
// from the source named at them. What the source leaves out has no constant: nothing here
// reads or writes it. All numbers are little-endian.
//
// # Use
//
// A [Dispatcher] made from [ControlMethods] or [DirectMethods] refuses every call whose scalar counts or structure
// sizes differ from its table. No handler runs then, so handlers find every field in its place. Tables are fresh slices
// that the caller may change, and a Dispatcher does not change once it is made.
package driverabi
