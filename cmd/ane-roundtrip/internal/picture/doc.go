// Package picture converts PNG and JPEG files to rows of fp16 tensors, and such rows to PNG files.
//
// A [Picture] holds samples of 8 or 16 bits in the memory of the decoded file: one channel if the file
// is gray, else three (red, green, blue). In a tensor a sample s of 8 bits is s/256, which fp16
// represents exactly; a sample of 16 bits is s/65536, of which fp16 keeps the first 11 bits. Values lie
// within [0, 1]. A Picture keeps the opacity of the file separately; [Picture.FillOver] writes colors
// times opacity.
//
// # What is read
//
// The package reads every form of PNG, and the JPEG that image/jpeg of the standard library reads:
// baseline and progressive, 8 bits per sample, gray, YCbCr, RGB, CMYK and YCCK. It expands palettes and
// samples of fewer than 8 bits to samples of 8 bits.
//
// A side has at most [MaxSide] pixels, the area at most [MaxPixels]; Decode checks this before it
// allocates the pixels. Decoding takes up to 24 bytes per pixel, for a progressive JPEG of four colors.
// A Picture takes one to eight bytes per pixel, and is filtered in place. Decode reads up to 32 MiB of a
// JPEG before its size, and keeps up to 4 MiB of the metadata.
//
// Decode applies the Exif orientation. It does not apply color profiles, gamma or primaries, does not
// write them, and reads only the still picture of an animation. [Picture.Notes] names what it did not apply.
package picture
