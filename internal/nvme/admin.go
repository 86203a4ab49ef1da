package nvme

// admin runs a command of administration. The caller holds the lock.
func (n *Controller) admin(c *Command) (result uint32, status Status) {
	switch c.Opcode {
	case Identify:
		return 0, n.identify(c)
	case CreateCQ:
		return 0, n.createCQ(c)
	case CreateSQ:
		return 0, n.createSQ(c)
	case AbortCommand:
		return n.abort(c), Success
	case SetFeatures:
		if c.Words[0]&0xff != numberQueues {
			return 0, InvalidField
		}
		return 0, Success // a result of 0 is one queue of each kind
	}
	return 0, InvalidOpcode
}

// queue is what Create I/O Queue says of a queue.
func (n *Controller) queue(c *Command) (id uint16, size uint32, at uint64, status Status) {
	id, size, at = uint16(c.Words[0]), c.Words[0]>>16+1, le.Uint64(c.Data[:])
	switch {
	case id == 0 || id >= queues:
		status = QueueIdentifier
	case size < 2 || size > maxEntries:
		status = QueueSize
	case c.Words[1]&1 == 0: // not contiguous
		status = InvalidField
	case at%pages != 0:
		status = PRPOffset
	}
	return id, size, at, status
}

func (n *Controller) createCQ(c *Command) Status {
	id, size, at, status := n.queue(c)
	switch {
	case status != Success:
		return status
	case n.comps[id] != nil:
		return QueueIdentifier
	case c.Words[1] != 3: // contiguous, with interrupt 0
		return InvalidField
	}
	n.comps[id] = &completion{at: at, size: size, phase: true}
	return Success
}

func (n *Controller) createSQ(c *Command) Status {
	id, size, at, status := n.queue(c)
	switch {
	case status != Success:
		return status
	case n.subs[id] != nil:
		return QueueIdentifier
	case uint16(c.Words[1]>>16) != id || n.comps[id] == nil: // each has a completion queue of its own
		return CompletionQueue
	}
	n.subs[id] = &submission{at: at, size: size, flying: map[uint16]*flight{}}
	return Success
}

// abort marks a command that runs. Its result has bit 0 set if there is none.
func (n *Controller) abort(c *Command) (result uint32) {
	q, id := uint16(c.Words[0]), uint16(c.Words[0]>>16)
	if q == 0 || q >= queues || n.subs[q] == nil || n.subs[q].flying[id] == nil {
		return 1
	}
	n.subs[q].flying[id].aborted = true
	return 0
}

// identify describes the namespace.
func (n *Controller) identify(c *Command) Status {
	const size = 4096
	switch {
	case uint8(c.Words[0]) != cnsNamespace:
		return InvalidField
	case c.Namespace != 1:
		return InvalidNamespace
	}
	var x [size]byte
	for at := 0; at < 24; at += 8 { // size, capacity, utilization
		le.PutUint64(x[at:], n.blocks)
	}
	const shift = 12 // of Sector
	le.PutUint32(x[128:], shift<<16)
	spans, status := pointers(n.c.Table, c, size)
	if status != Success {
		return status
	}
	rest := x[:]
	for _, s := range spans {
		if n.c.Table.Store(s.At, rest[:s.Size]) != nil {
			return DataTransferError
		}
		rest = rest[s.Size:]
	}
	return Success
}
