// Package picture converts PNG and JPEG files to rows of fp16 tensors, and such rows to PNG files.
//
// A [Picture] holds samples of 8 bits: one channel if the file is gray, else three (red, green, blue), and the opacity.
// In a tensor a sample s is s/256, which fp16 represents exactly, times the opacity of its pixel.
//
// # What is read
//
// The package reads PNG and JPEG (baseline and progressive) of 8 bits per channel: gray, palette or color. It expands
// palettes and samples of fewer bits to samples of 8 bits. It refuses samples of 16 bits and inks (CMYK).
//
// A side has at most [MaxSide] pixels, the area at most [MaxPixels]; Read checks this before it allocates the pixels.
// Decoding takes up to 19 bytes per pixel, for a progressive JPEG. A Picture takes one or four bytes per pixel, and is
// filtered in place. Read takes up to 32 MiB of a JPEG before its size.
//
// Read applies the Exif orientation. It does not apply color profiles, does not write them, and reads only the still
// picture of an animation. [Picture.Notes] names what it ignored.
package picture
