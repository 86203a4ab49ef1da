// Package terminal prepares text for a terminal: lines folded between words at its width, with what could control it
// escaped.
//
// Text for a file or pipe is not folded, so that a script finds each row of a table on one line. The environment
// variable COLUMNS sets the width for terminals, files and pipes.
package terminal
