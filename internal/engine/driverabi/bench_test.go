package driverabi

import "testing"

// A request is written and read, with three surfaces.
func BenchmarkSendRequest(b *testing.B) {
	request, ids := make([]byte, SendRequestSize), []uint32{1, 2, 3}
	b.ReportAllocs()
	for b.Loop() {
		RequestToken.Put(request, 1)
		RequestSequence.Put(request, 2)
		RequestPriority.Put(request, 5)
		RequestQoS.Put(request, 21)
		RequestCategory.Put(request, IOCategory)
		PutSurfaces(request, ids)
		if RequestToken.Get(request) != 1 || len(Surfaces(request)) != 12 {
			b.Fatal("not what was written")
		}
	}
}

// A call whose handler does nothing.
func BenchmarkCall(b *testing.B) {
	d := NewDispatcher(ControlMethods(), map[int]Handler{ControlSendRequest: nothing})
	a, client := exact(ControlMethods()[ControlSendRequest]), new(int)
	b.ReportAllocs()
	for b.Loop() {
		if d.Call(client, ControlSendRequest, a) != nil {
			b.Fatal("refused")
		}
	}
}

// The same handler, called through a function value without any check.
func BenchmarkCallFloor(b *testing.B) {
	handlers := map[int]Handler{ControlSendRequest: nothing}
	h, a, client := handlers[ControlSendRequest], exact(ControlMethods()[ControlSendRequest]), new(int)
	b.ReportAllocs()
	for b.Loop() {
		if h(client, a) != nil {
			b.Fatal("refused")
		}
	}
}

func nothing(any, *Args) error { return nil }
