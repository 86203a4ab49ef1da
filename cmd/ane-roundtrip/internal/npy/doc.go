// Package npy reads and writes NumPy's .npy files, one array a file.
//
// It takes format versions 1.0, 2.0 and 3.0 with little-endian numbers of the
// kinds listed in [Kind], in C or Fortran order. All else (big-endian, complex,
// text, structured and Python object types, bytes after the data) is refused
// with an [*Error] that names the file, the byte and the remedy; nothing is
// converted on the way.
//
// Format: "NEP 1, A Simple File Format for NumPy Arrays", and NumPy's manual,
// numpy.lib.format.
package npy
