// Package wire is the protocol between a broker and its clients. Frames travel over a Unix socket that keeps packets
// apart (SOCK_SEQPACKET), with file descriptors beside them (SCM_RIGHTS).
//
// A frame is a header of HeaderSize bytes and a payload of at most MaxPayload. What is larger (MIL text, weights, long
// answers) travels in a sealed memfd beside the frame. Tensors travel in the memfds of their Blocks.
//
// # Payloads
//
// The table of kinds names a struct for each request and each answer. The struct gives the order and the types of the
// payload's fields, and by the tag "max" their limits. Append, Parse and Check walk it. The encoding is canonical: what
// Parse accepts is exactly what Append writes. A tag leads each field: its place in the struct and its type. So a field
// left out, doubled or out of order is an error and never another field's value. Append checks no limits. Parse at the
// other side refuses what exceeds them, and Check reports that before sending.
//
// # Descriptors
//
// A received descriptor is close-on-exec and belongs to the caller of Receive; if Receive
// fails, all that came with the frame are closed. Sent descriptors stay the sender's.
//
// Linux has all of this. Other systems have the payloads; opening a Conn is an error there
// that matches ane.ErrUnavailable.
package wire
