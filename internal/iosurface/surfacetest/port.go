package surfacetest

import "github.com/anekit/anekit/internal/iosurface"

// port makes a send right: an object with a reference to its surface.
func (f *Fake) port(r iosurface.Ref) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails("IOSurfaceCreateMachPort") {
		return 0
	}
	f.get("IOSurfaceCreateMachPort", r).references++
	return uint32(f.create(object{entries: map[iosurface.Ref]iosurface.Ref{0: r}}))
}

func (f *Fake) lookupPort(port uint32) iosurface.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[iosurface.Ref(port)]
	if f.fails("IOSurfaceLookupFromMachPort") || o == nil || f.objects[o.entries[0]] == nil {
		return 0
	}
	return f.refer(f.surfaceOf("IOSurfaceLookupFromMachPort", o.entries[0]))
}

func (f *Fake) dropPort(port uint32) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.release(iosurface.Ref(port))
	if f.fails("mach_port_deallocate") {
		return f.code("mach_port_deallocate")
	}
	return 0
}
