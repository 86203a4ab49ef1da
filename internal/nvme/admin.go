package nvme

// admin runs a command of administration. The caller holds the lock.
func (n *Controller) admin(e *epoch, s *submission, c *Command) {
	x := Completion{ID: c.ID}
	switch c.Opcode {
	case Identify:
		x.Status = n.identify(e, c)
	case CreateCQ:
		x.Status = n.createCQ(e, c)
	case CreateSQ:
		x.Status = n.createSQ(e, c)
	case DeleteSQ:
		x.Status = n.deleteSQ(c)
	case DeleteCQ:
		x.Status = n.deleteCQ(c)
	case AbortCommand:
		x.Result = n.abort(c)
	case SetFeatures:
		if c.Words[0]&0xff != numberQueues {
			x.Status = InvalidField
			break
		}
		x.Result = (MaxQueues-1)<<16 | (MaxQueues - 1)
	case EventRequest:
		if len(n.events) < maxEvents {
			n.events = append(n.events, c.ID)
			return // it completes with an event
		}
		x.Status = EventLimit
	default:
		x.Status = InvalidOpcode
	}
	x.Final = x.Status != Success
	n.complete(e, 0, s, x)
}

// queue is what Create I/O Queue says of a queue.
func (n *Controller) queue(e *epoch, c *Command) (id uint16, size uint32, at uint64, status Status) {
	id, size, at = uint16(c.Words[0]), c.Words[0]>>16+1, le.Uint64(c.Data[:])
	switch {
	case id == 0 || id > MaxQueues:
		status = QueueIdentifier
	case size < 2 || size > MaxEntries:
		status = QueueSize
	case c.Words[1]&1 == 0: // not contiguous
		status = InvalidField
	case at%e.page != 0:
		status = PRPOffset
	}
	return id, size, at, status
}

func (n *Controller) createCQ(e *epoch, c *Command) Status {
	id, size, at, status := n.queue(e, c)
	switch {
	case status != Success:
		return status
	case n.comps[id] != nil:
		return QueueIdentifier
	}
	n.comps[id] = &completion{at: at, size: size, phase: true, vector: uint16(c.Words[1] >> 16),
		interrupts: c.Words[1]>>1&1 == 1}
	return Success
}

func (n *Controller) createSQ(e *epoch, c *Command) Status {
	id, size, at, status := n.queue(e, c)
	to := uint16(c.Words[1] >> 16)
	switch {
	case status != Success:
		return status
	case n.subs[id] != nil:
		return QueueIdentifier
	case to == 0 || to > MaxQueues:
		return QueueIdentifier
	case n.comps[to] == nil:
		return CompletionQueue
	}
	n.comps[to].users++
	n.subs[id] = &submission{at: at, size: size, to: to, flying: map[uint16]*flight{}}
	return Success
}

// deleteSQ deletes a queue. Its commands that run end without a completion.
func (n *Controller) deleteSQ(c *Command) Status {
	id := uint16(c.Words[0])
	if id == 0 || id > MaxQueues || n.subs[id] == nil {
		return QueueIdentifier
	}
	s := n.subs[id]
	s.gone = true
	for _, f := range s.flying {
		f.aborted = true
	}
	n.comps[s.to].users--
	n.subs[id] = nil
	n.changed.Broadcast()
	return Success
}

func (n *Controller) deleteCQ(c *Command) Status {
	id := uint16(c.Words[0])
	switch {
	case id == 0 || id > MaxQueues || n.comps[id] == nil:
		return QueueIdentifier
	case n.comps[id].users > 0:
		return QueueDeletion
	}
	n.comps[id] = nil
	n.changed.Broadcast()
	return Success
}

// abort marks a command that runs. Its result has bit 0 set if there is none.
func (n *Controller) abort(c *Command) (result uint32) {
	q, id := uint16(c.Words[0]), uint16(c.Words[0]>>16)
	if q == 0 || q > MaxQueues || n.subs[q] == nil || n.subs[q].flying[id] == nil {
		return 1
	}
	n.subs[q].flying[id].aborted = true
	return 0
}

// identify describes the controller or the namespace.
func (n *Controller) identify(e *epoch, c *Command) Status {
	const size = 4096
	var x [size]byte
	switch uint8(c.Words[0]) {
	case cnsController:
		text := func(b []byte, s string) {
			for i := range b {
				b[i] = ' '
			}
			copy(b, s)
		}
		text(x[4:24], "0")
		text(x[24:64], "anekit simulated NVMe")
		text(x[64:72], "1")
		x[77] = transfer
		le.PutUint32(x[80:], version)
		x[259] = maxEvents - 1
		x[512], x[513] = 6<<4|6, 4<<4|4 // sizes of queue entries
		le.PutUint32(x[516:], 1)        // namespaces
		if n.c.Store != nil {
			x[525] = 1 // a volatile write cache: Flush has work to do
		}
		le.PutUint32(x[536:], 1) // SGLs, without alignment
	case cnsNamespace:
		if c.Namespace != 1 {
			return InvalidNamespace
		}
		for at := 0; at < 24; at += 8 {
			le.PutUint64(x[at:], n.blocks)
		}
		shift := uint32(9)
		if n.c.Sector == 4096 {
			shift = 12
		}
		le.PutUint32(x[128:], shift<<16)
	case cnsActive:
		if c.Namespace < 1 {
			le.PutUint32(x[:], 1)
		}
	default:
		return InvalidField
	}
	spans, status := pointers(n.c.Table, c, size, e.page)
	if status != Success {
		return status
	}
	rest := x[:]
	for _, s := range spans {
		if n.c.Table.Store(s.at, rest[:s.n]) != nil {
			return DataTransferError
		}
		rest = rest[s.n:]
	}
	return Success
}
