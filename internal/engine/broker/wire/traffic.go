package wire

import "sync/atomic"

// Traffic is what went through a Conn. Bytes are those of frames with their headers; what
// travels in memfds is not among them.
type Traffic struct {
	FramesIn, BytesIn, DescriptorsIn    uint64
	FramesOut, BytesOut, DescriptorsOut uint64
}

// Plus is the sum of both.
func (t Traffic) Plus(u Traffic) Traffic {
	return Traffic{
		FramesIn: t.FramesIn + u.FramesIn, BytesIn: t.BytesIn + u.BytesIn, DescriptorsIn: t.DescriptorsIn + u.DescriptorsIn,
		FramesOut: t.FramesOut + u.FramesOut, BytesOut: t.BytesOut + u.BytesOut, DescriptorsOut: t.DescriptorsOut + u.DescriptorsOut,
	}
}

// counter counts one direction.
type counter struct{ frames, bytes, descriptors atomic.Uint64 }

func (c *counter) add(bytes, descriptors int) {
	c.frames.Add(1)
	c.bytes.Add(uint64(bytes))
	if descriptors != 0 {
		c.descriptors.Add(uint64(descriptors))
	}
}

// Traffic reads the counters.
func (c *Conn) Traffic() Traffic {
	if c == nil {
		return Traffic{}
	}
	return Traffic{
		FramesIn: c.in.frames.Load(), BytesIn: c.in.bytes.Load(), DescriptorsIn: c.in.descriptors.Load(),
		FramesOut: c.out.frames.Load(), BytesOut: c.out.bytes.Load(), DescriptorsOut: c.out.descriptors.Load(),
	}
}
