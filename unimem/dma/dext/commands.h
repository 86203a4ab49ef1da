// What the extension keeps for each mapping, and how it makes one.

#ifndef ANEKIT_DMA_COMMANDS_H
#define ANEKIT_DMA_COMMANDS_H

#include <os/log.h>
#include <time.h>

#include <DriverKit/IODMACommand.h>
#include <DriverKit/IOLib.h>
#include <DriverKit/IOMemoryDescriptor.h>
#include <DriverKit/IOService.h>

#include "protocol.h"

// A prepared command. The list owns one reference to both objects.
struct AnekitCommand {
	uint64_t id;
	IODMACommand * dma;
	IOMemoryDescriptor * memory;
	AnekitCommand * next;
};

// The commands of one connection, the latest first. A lock of the owner guards it.
struct AnekitCommands {
	AnekitCommand * first;
	uint64_t last; // id
};

// Sum of the lengths, whole pages.
static inline uint64_t
AnekitCovered(const IOAddressSegment * segments, uint32_t count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		sum += segments[i].length;
	}
	return sum & ~(uint64_t)(ANEKIT_DMA_PAGE - 1);
}

// Ends a prepared command that no client can name. If the system refuses it twice, the command stays, with its memory
// wired: a device that still reaches memory of another process is worse than a leak.
static inline void
AnekitAbandon(IODMACommand * dma)
{
	for (int i = 0; i < 2; i++) {
		if (dma->CompleteDMA(kIODMACommandCompleteDMANoOptions) == kIOReturnSuccess) {
			dma->release();
			return;
		}
	}
	os_log(OS_LOG_DEFAULT, "anekit: a command cannot be completed");
}

// Makes memory reachable for device, as far as the segments of one reply go, and adds a command to the list. The
// caller keeps its own reference to memory. On failure nothing stays prepared.
static inline kern_return_t
AnekitPrepare(AnekitCommands * list, IOService * device, IOMemoryDescriptor * memory, uint64_t length,
    AnekitDMAReply * reply)
{
	IODMACommandSpecification specification = {};
	specification.options = kIODMACommandSpecificationNoOptions;
	specification.maxAddressBits = 64;
	IODMACommand * dma = nullptr;
	kern_return_t ret = IODMACommand::Create(device, kIODMACommandCreateNoOptions, &specification, &dma);
	if (ret != kIOReturnSuccess) {
		return ret;
	}

	IOAddressSegment segments[ANEKIT_DMA_MAX_SEGMENTS] = {};
	uint32_t count = 0;
	uint64_t flags = 0;
	uint64_t begin = clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
	uint64_t wanted = length;
	for (int round = 0; round < 2; round++) {
		count = ANEKIT_DMA_MAX_SEGMENTS;
		flags = 0;
		ret = dma->PrepareForDMA(kIODMACommandPrepareForDMANoOptions, memory, 0, wanted, &flags, &count, segments);
		if (ret != kIOReturnSuccess) {
			dma->release();
			return ret;
		}
		uint64_t covered = AnekitCovered(segments, count);
		if (count >= 1 && count <= ANEKIT_DMA_MAX_SEGMENTS && covered == wanted) {
			break;
		}
		// The array was too short for all segments, although the whole length is prepared: prepare only
		// what the array holds, so that every prepared byte has an address that the client knows. When
		// that changes the segments, give up.
		if (round == 1 || count < 1 || count > ANEKIT_DMA_MAX_SEGMENTS || covered == 0 || covered > wanted) {
			AnekitAbandon(dma);
			return kIOReturnOverrun;
		}
		ret = dma->CompleteDMA(kIODMACommandCompleteDMANoOptions);
		if (ret != kIOReturnSuccess) {
			AnekitAbandon(dma);
			return ret;
		}
		wanted = covered;
	}
	uint64_t took = clock_gettime_nsec_np(CLOCK_UPTIME_RAW) - begin;

	AnekitCommand * c = IONewZero(AnekitCommand, 1);
	if (c == nullptr) {
		AnekitAbandon(dma);
		return kIOReturnNoMemory;
	}
	memory->retain();
	c->id = ++list->last;
	c->dma = dma;
	c->memory = memory;
	c->next = list->first;
	list->first = c;

	*reply = {};
	reply->command = c->id;
	reply->covered = wanted;
	reply->nanoseconds = took;
	reply->count = count;
	reply->flags = (uint32_t)flags;
	for (uint32_t i = 0; i < count; i++) {
		reply->segments[i].address = segments[i].address;
		reply->segments[i].length = segments[i].length;
	}
	return kIOReturnSuccess;
}

// Ends a command. The command leaves the list only if the device no longer reaches its memory.
static inline kern_return_t
AnekitComplete(AnekitCommands * list, uint64_t id)
{
	for (AnekitCommand ** at = &list->first; *at != nullptr; at = &(*at)->next) {
		AnekitCommand * c = *at;
		if (c->id != id) {
			continue;
		}
		kern_return_t ret = c->dma->CompleteDMA(kIODMACommandCompleteDMANoOptions);
		if (ret != kIOReturnSuccess) {
			return ret;
		}
		*at = c->next;
		c->dma->release();
		c->memory->release();
		IODelete(c, AnekitCommand, 1);
		return kIOReturnSuccess;
	}
	return kIOReturnNotFound;
}

// Ends all commands: the client has closed its connection, or its process has ended.
static inline void
AnekitCompleteAll(AnekitCommands * list)
{
	while (AnekitCommand * c = list->first) {
		list->first = c->next;
		AnekitAbandon(c->dma); // has its own reference to the memory
		c->memory->release();
		IODelete(c, AnekitCommand, 1);
	}
}

// The command's memory, without a new reference; NULL for none.
static inline IOMemoryDescriptor *
AnekitMemory(AnekitCommands * list, uint64_t id)
{
	for (AnekitCommand * c = list->first; c != nullptr; c = c->next) {
		if (c->id == id) {
			return c->memory;
		}
	}
	return nullptr;
}

#endif
