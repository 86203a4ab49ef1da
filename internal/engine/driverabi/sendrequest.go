package driverabi

// SendRequestSize is the size of a request, on selector 2 of both clients (tables
// 27.2 and 27.4).
const SendRequestSize = 2376

// Offsets of a request (table 27.6).
const (
	sendRequestToken    = 0x000
	sendRequestSequence = 0x008
	sendRequestPriority = 0x010
	sendRequestQoS      = 0x014
	sendRequestCategory = 0x01c
	sendRequestSurfaces = 0x020
)

// Values seen in a request on an M1 (table 27.6).
const (
	ObservedPriority uint32 = 5
	ObservedQoS      uint32 = 21
	// IOCategory is the io category; what others mean is not documented.
	IOCategory uint32 = 2
)

// SendRequest is a request to run a prepared program (table 27.6). Where the index of
// its doorbell lies is not documented.
type SendRequest struct {
	Token    uint64 // program or instance token, minted by program-create
	Sequence uint32 // 0, then 1 on the next submit
	// Priority and QoS were (5, 21). The table names the pair in one order and
	// describes it in the other; section 7 of the facts, where QoS 21 has priority 5,
	// decides.
	Priority uint32
	QoS      uint32
	Category uint32 // IOCategory
	// Raw has the unknown bytes, each at its own offset, and those of the surface
	// identifier array.
	Raw [SendRequestSize]byte
}

// Size returns SendRequestSize.
func (s *SendRequest) Size() int { return SendRequestSize }

// Encode writes s to b. It does not allocate.
func (s *SendRequest) Encode(b []byte) error {
	if err := store("SendRequest", b, s.Raw[:]); err != nil {
		return err
	}
	put64(b, sendRequestToken, s.Token)
	put32(b, sendRequestSequence, s.Sequence)
	put32(b, sendRequestPriority, s.Priority)
	put32(b, sendRequestQoS, s.QoS)
	put32(b, sendRequestCategory, s.Category)
	return nil
}

// Decode reads s from b. It does not allocate.
func (s *SendRequest) Decode(b []byte) error {
	if err := load("SendRequest", s.Raw[:], b); err != nil {
		return err
	}
	raw := s.Raw[:]
	s.Token = take64(raw, sendRequestToken)
	s.Sequence = take32(raw, sendRequestSequence)
	s.Priority = take32(raw, sendRequestPriority)
	s.QoS = take32(raw, sendRequestQoS)
	s.Category = take32(raw, sendRequestCategory)
	return nil
}

// Fields are the rows of table 27.6. Of the surface identifier array only the start is
// documented.
func (s *SendRequest) Fields() []Field {
	const t, pair = "table 27.6", "pair of undocumented widths, read as 32 bits each, priority first"
	return []Field{
		{"program / instance token", sendRequestToken, 8, t, ""},
		{"sequence number", sendRequestSequence, 4, t, read32},
		{"priority", sendRequestPriority, 4, t, pair},
		{"quality of service", sendRequestQoS, 4, t, pair},
		{"io category", sendRequestCategory, 4, t, read32},
		{"surface identifier array", sendRequestSurfaces, 0, t, "see SendRequest.Surfaces"},
	}
}

// Unknown are the bytes that table 27.6 leaves out, and the surface identifier array,
// whose element width, count and end it does not give.
func (s *SendRequest) Unknown() []Range { return gaps(SendRequestSize, s.Fields()) }
