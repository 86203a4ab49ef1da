// Package safetensors reads and writes tensors in files of the safetensors format without
// copying them.
//
// [Open] maps a file read-only and reads its header: the bytes of a [Tensor] are the pages of the file. [Load] reads a
// file into a unimem.Tape in parallel, past the page cache where the file system allows it. One transfer, with [Ring]
// through io_uring, moves it from the disk to memory that an engine can use. [Auto] chooses between the two.
// [OpenAs] does either, in memory of its own. [Create] writes files, [Repack] aligns them.
//
// # The format
//
// A file has the length of its header (8 bytes, little endian), the header (a JSON object, 100
// MB at most, that may end in spaces) and the tensors. The header gives each tensor's type, shape
// and place. Tensors lie one after the other without gap or overlap, and fill the file to its
// end. All of that is checked before the first tensor is returned, and each error names file,
// tensor and offset. This package accepts at most 65536 axes and 65536 names of metadata, which
// the format does not bound. The published specification is at
// https://github.com/huggingface/safetensors.
//
// A large model has several files and an index, *.safetensors.index.json, that names the file
// of each tensor. Open takes the index, or the folder.
//
// # Lifetime
//
// The caller closes a [File]. Its tensors, their names and their bytes must not be used
// afterwards: Tensor.Bytes is nil then. A tensor of ane on the Block of a Tensor, bound in a
// request, retains the Block, and Close returns unimem.ErrInUse until then.
//
// # Files that change
//
// A mapped file belongs to the file system: another process can overwrite it or make it shorter. Then reading a page
// that exists no more ends the process. The calls of this package that read tensors (CopyTo, Float16To, Check), and
// evaluations of package ane, return ErrChanged instead. A caller's own read of [Tensor.Bytes] does not. Load files
// whose writers are not known to replace files as a whole.
//
// # Alignment
//
// The format aligns nothing. A tensor whose offset is not a multiple of its element's size cannot be viewed as its
// type. [View] then returns ErrMisaligned. CopyTo moves the tensor and returns the number of bytes moved. With the
// option [Align] the [Writer] of this package aligns tensors by tensors of its own between them (see [Padding]). Other
// readers list these, and Names does not.
package safetensors
