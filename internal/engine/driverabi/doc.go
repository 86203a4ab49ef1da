// Package driverabi is the contract of the kernel driver of Apple's Neural Engine,
// as data and codecs: the selectors of both user clients with their exact sizes, the
// record and the argument block that the kernel checks them with, the structures
// that travel, return codes, entitlements and device properties. It is pure Go and
// calls no operating system.
//
// # Sources
//
// "Table 27.x" and "listing 27.x" name the tables and listings of chapter 27,
// "Kernel driver and IOKit ABI", of the public ANE guide (sbryngelson/ane-guide, M1).
// "Facts, section n" names the sections of the project's reference notes on
// AppleNeuralEngine.framework.
//
// # What is unknown stays unknown
//
// A structure has typed fields for the bytes that the source documents and Raw for
// all others. Decode keeps every byte and Encode gives it back, so Encode after
// Decode is the identity. Fields lists what is documented, with a note where the
// source gives an offset but no width and the width is this package's reading;
// Unknown lists the rest. All numbers are little-endian.
//
// # Use
//
// A [Dispatcher] made from [ControlMethods] or [DirectMethods] refuses every call
// whose scalar counts or structure sizes differ from its table before a handler runs.
// Values of this package have no hidden state: tables are fresh slices that the
// caller may change, and a Dispatcher does not change once it is made.
package driverabi
