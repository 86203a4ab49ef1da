// Package page lays text out for readers: tables, lines folded between words at the
// width of a terminal, and the colour of a status.
//
// Files and pipes have no width: text that goes there is not folded, so that a script
// finds a row on one line. COLUMNS overrules both.
package page
