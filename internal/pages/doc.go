// Package pages removes pages from mappings of shared memory, which has them for other mappings still.
package pages
