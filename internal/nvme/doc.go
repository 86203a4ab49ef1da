// Package nvme is a simulated NVMe controller with one namespace, and the part of a driver that a host needs to read
// and write it. Both follow parts of the NVM Express Base Specification 1.4: registers and doorbells, completions with
// phase bits, PRP lists, status codes, Abort. One queue pair for administration and one for I/O are in the memory of
// the host. As on the disks inside Macs, a sector and a memory page have 4 KiB, and there are no SGLs.
//
// The controller reaches the host's memory through a dart.Table alone. An address that is not mapped is a
// Data Transfer Error of the command; where it is a queue's, the controller fails (CSTS.CFS).
package nvme
