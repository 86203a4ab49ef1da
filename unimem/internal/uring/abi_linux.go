//go:build !macrules

package uring

// What linux/io_uring.h has.
const (
	setupClamp       = 1 << 4
	setupCoopTaskrun = 1 << 8 // Linux 5.19

	featSingleMmap = 1 << 0

	offSQ   = 0
	offSQEs = 0x10000000

	enterGetEvents = 1 << 0

	opPollAdd     = 6
	opAsyncCancel = 14
	opReadFixed   = 4
	opRead        = 22 // Linux 5.6

	registerBuffers   = 0
	unregisterBuffers = 1

	pollIn = 1
)

// params is struct io_uring_params.
type params struct {
	sqEntries, cqEntries, flags, threadCPU, threadIdle, features, wqFD uint32
	_                                                                  [3]uint32
	sq                                                                 sqOffsets
	cq                                                                 cqOffsets
}

// sqOffsets is struct io_sqring_offsets.
type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, _ uint32
	_                                                   uint64
}

// cqOffsets is struct io_cqring_offsets.
type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, _ uint32
	_                                                   uint64
}

// sqe is struct io_uring_sqe.
type sqe struct {
	opcode, flags uint8
	ioprio        uint16
	fd            int32
	off, addr     uint64
	len, opFlags  uint32
	userData      uint64
	bufIndex      uint16
	_             [22]byte
}

// cqe is struct io_uring_cqe.
type cqe struct {
	userData uint64
	res      int32
	flags    uint32
}
