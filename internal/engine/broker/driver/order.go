package driver

import "github.com/anekit/anekit/internal/engine/driverabi"

// order is what a request asks for, read once from its bytes, which stay the caller's.
type order struct {
	token    uint64
	sequence uint32
	priority uint32
	qos      uint32
	category uint32
	flags    uint32
	timeout  uint64
	doorbell uint64
	port     uint64 // 0: the caller waits for the end
	surfaces []uint32
}

// read is the order in b; surfaces has room for the identifiers.
func read(b []byte, surfaces []uint32) order {
	return order{
		token: driverabi.RequestToken.Get(b), sequence: driverabi.RequestSequence.Get(b),
		priority: driverabi.RequestPriority.Get(b), qos: driverabi.RequestQoS.Get(b),
		category: driverabi.RequestCategory.Get(b), flags: RequestFlags.Get(b), timeout: RequestTimeout.Get(b),
		surfaces: driverabi.Surfaces(b, surfaces),
	}
}
