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

// read is the order in v; surfaces has room for the identifiers.
func read(v driverabi.SendRequestView, surfaces []uint32) order {
	return order{
		token: v.Token(), sequence: v.Sequence(), priority: v.Priority(), qos: v.QoS(), category: v.Category(),
		flags: v.Uint32(submitFlags), timeout: v.Uint64(submitTimeout), surfaces: v.Surfaces(surfaces),
	}
}
