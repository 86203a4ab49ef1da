// Package nvme is a simulated NVMe controller with one namespace, and the part of a driver that a host needs to read
// and write it. Both follow the NVM Express Base Specification 1.4, as far as it goes here: registers and doorbells,
// administration and I/O queue pairs in the memory of the host, completions with phase bits, PRP lists and SGLs,
// status codes, Abort.
//
// The controller reaches the host's memory through a dart.Table alone: an address that is not mapped is a
// Data Transfer Error of the command, and the controller's end (CSTS.CFS) where it is a queue's.
package nvme
