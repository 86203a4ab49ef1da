// Package kv holds the keys and values of a conversation in shared memory that does not move. It keeps them in
// snapshots, and checks a snapshot before its use.
//
// [New] reserves the memory of the whole context once: a surface of keys and one of values for each layer. Each is a
// tensor of shape [1, Heads, Cap, HeadDim] at byte 0, as engines bind it. [NewOn] takes the memory from a Tape, such as
// the history of a unimem.Layout. The tensors stay bound while the cache fills.
//
// For every pass the caller calls [Cache.Append] once or more for each layer, with tokens in their order. It then calls
// [Cache.Advance], which makes the tokens part of the cache. A token at position p has slot p, or p modulo Window in a
// cache with a window.
//
// # New memory
//
// A cache moves to new memory on growth beyond Context, by [Cache.Reserve], on the first write to a [Cache.Fork] that
// shares pages, and on a write over tokens that a fork shares. The move copies its tokens once and counts the bytes
// ([Cache.Copied]). The earlier tensors are stale then: their calls return ane.ErrStale, and so does a run of a request
// that holds them. The caller binds the tensors of Keys and Values again.
//
// # Snapshots
//
// [Cache.Save] and [Cache.SaveFile] write a safetensors file with one tensor of shape [1, Heads, tokens, HeadDim] for
// each layer and side. The metadata has a [Fingerprint], the positions and an xxh3 checksum of the header. The tensor
// "checksums" has the xxh3 of each head of every tensor, in order, 8 bytes each, little endian. Its last one covers the
// others and the header. SaveFile writes a temporary file, syncs it, renames it, and syncs the folder. So after a
// failure or a loss of power the path has the old snapshot or the new one, whole. [Cache.SaveFileNote] keeps a note of
// the caller in the same file.
//
// [Cache.Restore] and [Cache.RestoreFile] check everything before the cache changes: the header, the fingerprint, the
// shape, every checksum. After an error the cache is what it was, bit for bit. Checksums find damage, not forgery: a
// snapshot from a source that is not trusted can hold any values.
//
// One goroutine at a time uses a Cache. A fork may be used by another goroutine than its parent, also while both
// share pages.
package kv
