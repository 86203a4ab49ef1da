package iosurface

import "fmt"

// HasPorts reports whether surfaces of this library can become mach ports.
func (t *Table) HasPorts() bool {
	return t.CreateMachPort != nil && t.LookupFromMachPort != nil && t.DeallocatePort != nil
}

// noPorts returns the error of calls on a Table without ports.
func noPorts(call string) error { return &Error{Call: call, Text: "the library has no mach ports"} }

// Port makes a mach port of the surface, a send right that the caller closes by ClosePort.
// It keeps the surface alive.
func (s *Surface) Port() (uint32, error) {
	const call = "IOSurfaceCreateMachPort"
	if !s.table.HasPorts() {
		return 0, noPorts(call)
	}
	if port := s.table.CreateMachPort(s.Ref); port != 0 {
		return port, nil
	}
	return 0, &Error{Call: call, Text: "returned no port"}
}

// ClosePort deallocates a send right.
func ClosePort(t *Table, port uint32) error {
	const call = "mach_port_deallocate"
	if !t.HasPorts() {
		return noPorts(call)
	}
	if code := t.DeallocatePort(port); code != 0 {
		return &Error{Call: call, Code: code, Text: "the port cannot be deallocated"}
	}
	return nil
}

// LookupPort finds the surface of a port, of at least size bytes, and locks it. The caller
// keeps the port.
func LookupPort(t *Table, port uint32, size int) (*Surface, error) {
	const call = "IOSurfaceLookupFromMachPort"
	if !t.HasPorts() {
		return nil, noPorts(call)
	}
	ref := t.LookupFromMachPort(port)
	if ref == 0 {
		return nil, &Error{Call: call, Text: fmt.Sprintf("port %#x is not of a surface", port)}
	}
	return lock(t, ref, size)
}
