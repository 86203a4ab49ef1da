package driverabi

import "encoding/binary"

// SendRequestView reads the fields of an encoded request where it lies, without the copy
// that SendRequest.Decode makes. It shares the bytes, so a caller whose bytes may change
// meanwhile should read every field once. Only ViewSendRequest makes one that can be read.
type SendRequestView struct{ b *[SendRequestSize]byte }

// ViewSendRequest is the view of b, or an *Error matching ErrSize unless b is
// SendRequestSize bytes long.
func ViewSendRequest(b []byte) (SendRequestView, error) {
	if err := sized("SendRequest", SendRequestSize, len(b)); err != nil {
		return SendRequestView{}, err
	}
	return SendRequestView{(*[SendRequestSize]byte)(b)}, nil
}

// Token is SendRequest.Token.
func (v SendRequestView) Token() uint64 { return v.Uint64(sendRequestToken) }

// Sequence is SendRequest.Sequence.
func (v SendRequestView) Sequence() uint32 { return v.Uint32(sendRequestSequence) }

// Priority is SendRequest.Priority.
func (v SendRequestView) Priority() uint32 { return v.Uint32(sendRequestPriority) }

// QoS is SendRequest.QoS.
func (v SendRequestView) QoS() uint32 { return v.Uint32(sendRequestQoS) }

// Category is SendRequest.Category.
func (v SendRequestView) Category() uint32 { return v.Uint32(sendRequestCategory) }

// Uint32 reads 32 of the bits that no field covers; at is an offset in the request, and
// one that leaves no room for them reads as 0.
func (v SendRequestView) Uint32(at int) uint32 {
	if at < 0 || at > SendRequestSize-4 {
		return 0
	}
	return binary.LittleEndian.Uint32(v.b[at:])
}

// Uint64 reads 64 bits like Uint32.
func (v SendRequestView) Uint64(at int) uint64 {
	if at < 0 || at > SendRequestSize-8 {
		return 0
	}
	return binary.LittleEndian.Uint64(v.b[at:])
}

// Surfaces is SendRequest.Surfaces.
func (v SendRequestView) Surfaces(dst []uint32) []uint32 {
	return identifiers(v.b[sendRequestSurfaces:], dst)
}
