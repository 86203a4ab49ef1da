package driverabi

import "testing"

func BenchmarkSendRequestEncode(b *testing.B) {
	var s SendRequest
	buf := make([]byte, SendRequestSize)
	b.ReportAllocs()
	b.SetBytes(SendRequestSize)
	for b.Loop() {
		if err := s.Encode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSendRequestEncodeFloor(b *testing.B) { benchmarkCopy(b, SendRequestSize) }

func BenchmarkSendRequestDecode(b *testing.B) {
	var s SendRequest
	buf := noise(SendRequestSize)
	b.ReportAllocs()
	b.SetBytes(SendRequestSize)
	for b.Loop() {
		if err := s.Decode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSendRequestDecodeFloor(b *testing.B) { benchmarkCopy(b, SendRequestSize) }

func BenchmarkSendReplyEncode(b *testing.B) {
	var s SendReply
	buf := make([]byte, SendReplySize)
	b.ReportAllocs()
	b.SetBytes(SendReplySize)
	for b.Loop() {
		if err := s.Encode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSendReplyEncodeFloor(b *testing.B) { benchmarkCopy(b, SendReplySize) }

func BenchmarkSendReplyDecode(b *testing.B) {
	var s SendReply
	buf := noise(SendReplySize)
	b.ReportAllocs()
	b.SetBytes(SendReplySize)
	for b.Loop() {
		if err := s.Decode(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSendReplyDecodeFloor(b *testing.B) { benchmarkCopy(b, SendReplySize) }

// A call whose handler does nothing.
func BenchmarkCall(b *testing.B) {
	d, err := NewDispatcher(ControlMethods(), map[int]Handler{ControlSendRequest: nothing})
	if err != nil {
		b.Fatal(err)
	}
	a, client := exact(ControlMethods()[ControlSendRequest]), &door{}
	b.ReportAllocs()
	for b.Loop() {
		if d.Call(client, ControlSendRequest, a) != Success {
			b.Fatal("refused")
		}
	}
}

// The same handler, called through a function value without any check.
func BenchmarkCallFloor(b *testing.B) {
	handlers := map[int]Handler{ControlSendRequest: nothing}
	h, a, client := handlers[ControlSendRequest], exact(ControlMethods()[ControlSendRequest]), &door{}
	b.ReportAllocs()
	for b.Loop() {
		if h(client, a) != Success {
			b.Fatal("refused")
		}
	}
}

func nothing(any, *Args) Return { return Success }

// benchmarkCopy copies n bytes.
func benchmarkCopy(b *testing.B, n int) {
	dst, src := make([]byte, n), noise(n)
	b.ReportAllocs()
	b.SetBytes(int64(n))
	for b.Loop() {
		copy(dst, src)
	}
}
