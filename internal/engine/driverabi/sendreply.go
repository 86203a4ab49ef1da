package driverabi

// SendReplySize is the size of the answer to a request (tables 27.2 and 27.4,
// selector 2).
const SendReplySize = 40

// Offsets of an answer (text below table 27.6).
const (
	sendReplySequence = 0x00
	sendReplyResult   = 0x04
	sendReplyToken    = 0x08
	sendReplyStatus   = 0x20
)

// SendReply is the answer to a SendRequest (text below table 27.6).
type SendReply struct {
	Sequence uint32 // of the request
	Result   uint32 // its values are not documented
	Token    uint64 // of the request
	Status   uint32 // a flag; its values are not documented
	// Raw has the unknown bytes, each at its own offset.
	Raw [SendReplySize]byte
}

// Size returns SendReplySize.
func (s *SendReply) Size() int { return SendReplySize }

// Encode writes s to b. It does not allocate.
func (s *SendReply) Encode(b []byte) error {
	if err := store("SendReply", b, s.Raw[:]); err != nil {
		return err
	}
	put32(b, sendReplySequence, s.Sequence)
	put32(b, sendReplyResult, s.Result)
	put64(b, sendReplyToken, s.Token)
	put32(b, sendReplyStatus, s.Status)
	return nil
}

// Decode reads s from b. It does not allocate.
func (s *SendReply) Decode(b []byte) error {
	if err := load("SendReply", s.Raw[:], b); err != nil {
		return err
	}
	raw := s.Raw[:]
	s.Sequence = take32(raw, sendReplySequence)
	s.Result = take32(raw, sendReplyResult)
	s.Token = take64(raw, sendReplyToken)
	s.Status = take32(raw, sendReplyStatus)
	return nil
}

// Fields are what the text below table 27.6 names.
func (s *SendReply) Fields() []Field {
	const t, both = "text below table 27.6", "+0x00 holds sequence and result, read as 32 bits each in that order"
	return []Field{
		{"sequence", sendReplySequence, 4, t, both},
		{"result", sendReplyResult, 4, t, both},
		{"echoed token", sendReplyToken, 8, t, ""},
		{"status flag", sendReplyStatus, 4, t, read32},
	}
}

// Unknown are the bytes that the text leaves out.
func (s *SendReply) Unknown() []Range { return gaps(SendReplySize, s.Fields()) }
