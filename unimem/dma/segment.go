package dma

// MaxSegments is the largest number of segments that one call of a Driver returns: the length of the array
// in IODMACommand::PrepareForDMA.
const MaxSegments = 32

// PageSize is the page of a DART in bytes.
const PageSize = 16 << 10

// Segment is a range of device addresses, in bytes. It has the two fields of an IOAddressSegment.
type Segment struct{ Address, Length uint64 }
