// Package picture turns PNG and JPEG files into rows of fp16 tensors, and such
// rows into PNG files.
//
// A [Picture] holds samples of 8 or 16 bits, of one channel if the file is gray, of three
// (red, green, blue) otherwise, in the memory of the decoded file. In a tensor a sample s of
// 8 bits is s/256, which fp16 holds exactly; one of 16 bits is s/65536, of which fp16
// keeps the first 11 digits. So values lie within [0, 1]. Opacity, if the file has it,
// is kept beside; [Picture.FillOver] takes colours times opacity.
//
// # What is read
//
// PNG in all its forms. JPEG as image/jpeg of the standard library reads it:
// baseline and progressive, 8 bits a sample, gray, YCbCr, RGB, CMYK and YCCK.
// Samples of fewer than 8 bits and palettes are widened.
// Both sides are at most [MaxSide], the area at most [MaxPixels]; this is checked
// before memory is taken. Decoding takes up to 24 bytes a pixel for its time, as
// for a progressive JPEG of four colours; a Picture has one to eight, and is filtered in
// its place. Metadata is kept up to 4 MiB.
//
// The orientation that a camera noted in Exif data is applied. Otherwise samples are
// taken as stored: colour profiles and gamma are neither applied nor passed on, nor is
// more than the still picture of an animation. [Picture.Notes] says so.
package picture
