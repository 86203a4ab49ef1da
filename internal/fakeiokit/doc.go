// Package fakeiokit builds a library that takes the place of IOKit.framework and of the kernel. It runs the driver
// extensions of unimem/dma/dext, unchanged, against stand-ins of the DriverKit classes that they use.
//
// The stand-ins have the names, arguments and codes that are published. That Apple's classes behave like them is
// not proven. For tests.
package fakeiokit
