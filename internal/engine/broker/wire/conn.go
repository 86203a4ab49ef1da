package wire

import (
	"fmt"
	"sync/atomic"
)

// Conn is one end of a connection. Send and Receive may be called from several goroutines; frames are never mixed.
// Close may be called at any time and ends both.
type Conn struct {
	meter
	socket
}

// Descriptors came with a frame; the caller of Receive closes them.
type Descriptors []int

// Send sends a frame with descriptors, which stay the caller's. It waits while the peer does
// not read. A payload above MaxPayload travels in a memfd, which counts as a descriptor.
//
// Errors: ErrClosed, ErrTimeout (after SetPatience), ErrLong, ErrDescriptors, ErrKind,
// ErrValue, ErrSocket. Nothing was sent then.
func (c *Conn) Send(f Frame, fds ...int) error {
	if err := f.sendable("send", MaxLong); err != nil {
		return err
	}
	if f.Flags != 0 {
		return f.fault("send", "flags", 12, ErrValue, fmt.Sprintf("%#x: leave them to Send", f.Flags))
	}
	if len(f.Payload) > MaxPayload {
		file, err := Seal("payload", f.Payload)
		if err != nil {
			return err
		}
		defer file.Close()
		fds = append(append(make([]int, 0, len(fds)+1), fds...), int(file.Fd()))
		f.Flags, f.Payload = FlagLong, nil
	}
	if len(fds) > MaxDescriptors {
		return &Error{Op: "send", Kind: f.Kind, Err: ErrDescriptors,
			Detail: fmt.Sprintf("%d, at most %d", len(fds), MaxDescriptors)}
	}
	if err := c.send(&f, fds); err != nil {
		return err
	}
	c.sent(&f)
	return nil
}

// Receive waits for a frame. The frame is put in buf; MaxFrame bytes hold every frame. The Payload is part of buf, or
// memory of its own if it came in a memfd. The descriptors are the caller's.
//
// Errors: ErrClosed when the peer has gone or the Conn was closed: no other call will succeed. ErrTimeout after
// SetPatience. The others are about one packet: ErrMagic, ErrVersion, ErrKind, ErrShort, ErrLong, ErrTrailing,
// ErrValue, ErrDescriptors, ErrSeal, ErrSocket. The packet is gone with all its descriptors. If its header was
// readable, Kind and ID are set.
func (c *Conn) Receive(buf []byte) (Frame, Descriptors, error) {
	n, fds, err := c.receive(buf)
	if err != nil {
		return Frame{}, nil, err
	}
	c.received(n)
	f, err := ParseFrame(buf[:n])
	if err == nil && f.Flags&FlagLong != 0 {
		fds, err = f.unpack(fds)
	}
	if err != nil {
		fds.Close()
		return f, nil, err
	}
	return f, fds, nil
}

// unpack reads the payload of a long frame from the last descriptor and returns the others; on an error, all.
func (f *Frame) unpack(fds Descriptors) (Descriptors, error) {
	last := len(fds) - 1
	if last < 0 {
		return fds, f.fault("receive", "flags", 12, ErrDescriptors, "a long frame without the memfd of its payload")
	}
	payload, err := ReadSealed(fds[last], MaxLong)
	if err != nil {
		return fds, err
	}
	fds[last:].Close()
	f.Flags, f.Payload = 0, payload
	return fds[:last], nil
}

// Traffic is what went through a Conn or a Bell. Bytes are those of frames with their headers; what travels in memfds
// is not among them.
type Traffic struct{ FramesIn, BytesIn, FramesOut, BytesOut uint64 }

// Plus is the sum of both.
func (t Traffic) Plus(u Traffic) Traffic {
	return Traffic{FramesIn: t.FramesIn + u.FramesIn, BytesIn: t.BytesIn + u.BytesIn,
		FramesOut: t.FramesOut + u.FramesOut, BytesOut: t.BytesOut + u.BytesOut}
}

// meter counts frames and their bytes.
type meter struct{ framesIn, bytesIn, framesOut, bytesOut atomic.Uint64 }

func (m *meter) sent(f *Frame) {
	m.framesOut.Add(1)
	m.bytesOut.Add(uint64(HeaderSize + len(f.Payload)))
}

func (m *meter) received(bytes int) {
	m.framesIn.Add(1)
	m.bytesIn.Add(uint64(bytes))
}

func (m *meter) read() Traffic {
	return Traffic{FramesIn: m.framesIn.Load(), BytesIn: m.bytesIn.Load(), FramesOut: m.framesOut.Load(),
		BytesOut: m.bytesOut.Load()}
}

// Traffic reads the counters.
func (c *Conn) Traffic() Traffic { return c.read() }
