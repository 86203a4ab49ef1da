// Package npy reads and writes NumPy's .npy files, one array a file, and .npz
// archives of them.
//
// It takes format versions 1.0, 2.0 and 3.0 with numbers of the kinds listed in
// [Kind], in C or Fortran order. Big-endian numbers are turned around, and
// [Array.Swapped] says so. All else (complex, text, structured and Python object
// types, bytes after the data) is refused with an [*Error] that names the file, the
// byte and the remedy.
//
// An [Archive] is a zip file whose entries are arrays, stored or deflated. What it
// claims costs nothing: its list of entries is read up to [MaxDirectory] bytes, and
// an entry up to the size that its header gives, once the caller's [Accept] has
// taken that.
//
// Format: "NEP 1, A Simple File Format for NumPy Arrays", and NumPy's manual,
// numpy.lib.format.
package npy
