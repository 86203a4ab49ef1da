// Package npy reads and writes NumPy's .npy files, which hold one array, and .npz archives of them.
//
// It reads format versions 1.0, 2.0 and 3.0 with the numbers listed in [Kind], in C or Fortran order.
// It converts big-endian numbers and sets [Array.Swapped]. It rejects anything else (complex, text,
// structured and Python object types, bytes after the data) with an [*Error] that names the file, the
// byte and the remedy.
//
// An [Archive] is a zip file of arrays, stored or deflated. The package does not allocate what a file
// merely declares: it reads at most [MaxDirectory] bytes of the list of entries, and of an entry the
// size in its header, after the caller's [Accept] accepted it.
//
// Format: "NEP 1, A Simple File Format for NumPy Arrays", and NumPy's manual,
// numpy.lib.format.
package npy
