// Package picture turns PNG and JPEG files into rows of fp16 tensors, and such
// rows into PNG files.
//
// A [Picture] holds samples of 8 bits in one plane per channel: one channel if
// the file is gray, three (red, green, blue) otherwise. In a tensor a sample s is
// s/256, which fp16 holds exactly, so values lie within [0, 1). Opacity, if the
// file has it, is kept beside and not filtered.
//
// # What is read
//
// PNG in all its forms. JPEG as image/jpeg of the standard library reads it:
// baseline and progressive, 8 bits a sample, gray, YCbCr, RGB, CMYK and YCCK.
// Samples of 16 bits are rounded to 8, those of fewer bits and palettes widened.
// Both sides are at most [MaxSide], the area at most [MaxPixels]; this is checked
// before memory is taken. Decoding takes up to 24 bytes a pixel for its time, as
// for a progressive JPEG of four colours; a Picture has one to four.
//
// Samples are taken as stored: colour profiles, gamma and the orientation that a
// camera noted in Exif data are neither applied nor passed on.
package picture
