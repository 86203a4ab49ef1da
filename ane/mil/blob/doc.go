// Package blob reads and writes the weight files that BLOBFILE literals of MIL text name.
//
// # Format
//
// All numbers are little endian. The file starts with a header of 64 bytes:
//
//	+0   uint32   number of entries
//	+4   uint32   version of the format, 2
//	+8            zeros
//
// Entries follow, each at a multiple of 64 and each with metadata of 64 bytes before its payload:
//
//	+0   uint32   0xDEADBEEF
//	+4   uint32   scalar type, see Tag
//	+8   uint64   bytes of the payload
//	+16  uint64   where the payload starts in the file, entry + 64
//	+24  uint64   unused bits in the payload's last byte, for types below 8 bits
//	+32           zeros
//	+64           payload, row-major; types below 8 bits start at the low bits
//
// The layout is that of MILBlob/Blob/StorageFormat.hpp in coremltools. The "128-byte header" in which many programs
// keep a single tensor is the same format with one entry, tagged fp16.
//
// The offset in a BLOBFILE names the entry's metadata, not its payload: 64 for the first entry.
//
// # Making a file
//
// A Writer takes tensors as bytes, as float32 that it stores as fp16, or as streams that it reads while it writes the
// file. Writers holds all files of a program. An engine reads whole files from a Source: Files in memory, Dir in a
// directory, FS in any file system, Writers from the Writers of a program.
//
// # Tolerance
//
// Files in use deviate from the format. An unambiguous deviation gives a warning, see File.Warnings. These are reserved
// bytes that are not zero, entries not at a multiple of 64, a payload offset of 0, int8 tagged fp16, int4 tagged uint4.
// Everything else is an *Error. Files of version 1 have another, older format and are refused.
//
// A length is compared with the size of the file before memory of that length is allocated.
package blob
