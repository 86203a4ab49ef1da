// Package wire is how a broker and its clients talk: frames over a Unix socket that keeps
// packets apart (SOCK_SEQPACKET), with file descriptors beside them (SCM_RIGHTS).
//
// A frame is a header of HeaderSize bytes and a payload of at most MaxPayload. What is
// larger (MIL text, weights, long answers) travels in a sealed memfd beside the frame, and
// tensors in the memfds of their Blocks, so that a frame stays small whatever it is about.
//
// # Payloads
//
// The table of kinds names a struct for each request and each answer, and the struct is the table of the payload's
// fields: their order, their types and, by the tag "max", their limits. Append, Parse and Check walk it. The encoding
// is canonical: what Parse accepts is exactly what Append writes. Each field is led by a tag, its place in the struct
// and its type, so that a field left out, doubled or out of order is an error and never another field's value. Append
// writes whatever it is given; Parse at the other side refuses what is beyond the limits, and Check tells before
// sending.
//
// # Descriptors
//
// A received descriptor is close-on-exec and belongs to the caller of Receive; if Receive
// fails, all that came with the frame are closed. Sent descriptors stay the sender's.
//
// Linux has all of this. Other systems have the payloads; opening a Conn is an error there
// that matches ane.ErrUnavailable.
package wire
