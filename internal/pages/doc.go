// Package pages removes pages from mappings whose bytes stay elsewhere, in shared memory or in a file, and maps them.
package pages
