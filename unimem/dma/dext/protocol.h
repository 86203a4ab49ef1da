// The calls between the driver extension and its client, in C. The client in Go has the same numbers in
// client_protocol.go; a test compares both, and compiles this file.

#ifndef ANEKIT_DMA_PROTOCOL_H
#define ANEKIT_DMA_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

// Changes with any change of this file: a client refuses another version.
#define ANEKIT_DMA_VERSION 1

// The most segments of one reply, the length of the array of IODMACommand::PrepareForDMA.
#define ANEKIT_DMA_MAX_SEGMENTS 32

// Addresses and lengths are multiples of the page of Apple silicon.
#define ANEKIT_DMA_PAGE 16384

// Selectors of IOConnectCallMethod.
enum {
	// Out: one scalar, ANEKIT_DMA_VERSION.
	kAnekitDMAVersion = 0,
	// In: AnekitDMARequest. Out: AnekitDMAReply for the first bytes.
	kAnekitDMAPrepare = 1,
	// In: one scalar, the command of a reply. The device does not reach its memory afterwards.
	kAnekitDMAComplete = 2,
	// In: one scalar, a length. Out: AnekitDMAReply. The memory type of IOConnectMapMemory64 is the reply's command.
	kAnekitDMAAllocate = 3,
	kAnekitDMASelectors = 4
};

// Which way a device moves the bytes: kIOMemoryDirection of IOMemoryDescriptor.
enum {
	kAnekitDMAIn = 1,   // the device writes memory
	kAnekitDMAOut = 2,  // the device reads memory
	kAnekitDMAInOut = 3
};

// A run of device addresses, IOAddressSegment.
struct AnekitDMASegment {
	uint64_t address;
	uint64_t length;
};

struct AnekitDMARequest {
	uint64_t address;   // of the client's task
	uint64_t length;
	uint32_t direction;
	uint32_t reserved;  // 0
};

struct AnekitDMAReply {
	uint64_t command;      // for kAnekitDMAComplete; not 0
	uint64_t covered;      // bytes from the request's address on that the segments cover
	uint64_t nanoseconds;  // of PrepareForDMA
	uint32_t count;        // of segments, 1 to 32
	uint32_t flags;        // the low 32 bits of those that PrepareForDMA returns
	struct AnekitDMASegment segments[ANEKIT_DMA_MAX_SEGMENTS];
};

#ifdef __cplusplus
#define ANEKIT_DMA_ASSERT static_assert
#else
#define ANEKIT_DMA_ASSERT _Static_assert
#endif
ANEKIT_DMA_ASSERT(sizeof(struct AnekitDMASegment) == 16, "segment");
ANEKIT_DMA_ASSERT(sizeof(struct AnekitDMARequest) == 24, "request");
ANEKIT_DMA_ASSERT(sizeof(struct AnekitDMAReply) == 544, "reply");
ANEKIT_DMA_ASSERT(offsetof(struct AnekitDMAReply, segments) == 32, "segments");

#endif
