// Package page lays out text: tables, lines folded between words at the width of a terminal, and the
// color of a status.
//
// Text for a file or pipe is not folded, so that a script finds each row of a table on one line. The
// environment variable COLUMNS sets the width for terminals, files and pipes.
package page
