// Package report draws the JSON object of a command as one HTML page: the verdict first, then tables, plots,
// receipts and the self-check.
//
// The object is the only source. [Write] takes the bytes that --json prints, and each figure of the page keeps its
// place in them, as a JSON Pointer (RFC 6901), and its value as the object has it:
//
//	<data data-json="/details/models/0/evaluate_p50_ns" data-raw="1162" data-unit="ns">1.16 µs</data>
//
// A count of entries has the place of their array and, in data-of, the value that a field of the counted entries has:
//
//	<data data-json="/checks" data-of="status=pass" data-raw="74">74</data>
//
// A text has its place alone; control characters and invisible marks in it are escaped as in Go. Only the labels at
// the axes of plots are no figures of the object. Under each plot a table has the values that it draws.
//
// The page needs nothing but itself: styles are in it, plots are inline SVG, and there is no script. A policy in it
// forbids the browser to load anything. It follows the color scheme of the reader, fits 360 pixels, and prints.
package report
