// The part of AppleNeuralEngine.framework that the bridge calls: one protocol per
// class, with the selectors and types common to iOS 15.0 to 26.1 and macOS 26. Messages
// go to id<Protocol> and Class<Protocol>, so the compiler knows every argument's type,
// and the self-check takes the expected encodings from these declarations.
//
// Sources: header dumps of iOS 15.0, 16.5 and 26.1, the bindings of macOS 26 and
// binary comparison with framework 382.7.4; see the comment at each class.
#ifndef ANEB_APPLE_H
#define ANEB_APPLE_H

#import <Foundation/Foundation.h>

#ifdef GNUSTEP
#include "iosurface_gnustep.h"
#else
#import <IOSurface/IOSurface.h>
#endif

// _ANEInMemoryModelDescriptor (macOS 26, iOS 26.1). text is NSData: an NSString raises.
// weights maps each path to a dictionary of one file name and its NSData. Returns nil
// for bad arguments.
@protocol ANEBDescriptor <NSObject>
+ (id)modelWithMILText:(NSData *)text weights:(NSDictionary *)weights optionsPlist:(NSData *)plist;
@end

// _ANEModel, the model inside an in-memory one (iOS 15.0 on).
@protocol ANEBInner <NSObject>
- (NSDictionary *)modelAttributes;
@end

// _ANEInMemoryModel (iOS 15.0 on; intermediateBufferHandle from 15.6, model from 17). options must not
// be nil: without it the broker treats the program as another model type.
@protocol ANEBModel <NSObject>
+ (id)inMemoryModelWithDescriptor:(id)descriptor;
- (NSString *)hexStringIdentifier;
- (NSString *)localModelPath;
- (BOOL)compiledModelExists;
- (BOOL)compileWithQoS:(unsigned int)qos options:(NSDictionary *)options error:(NSError **)error;
- (BOOL)loadWithQoS:(unsigned int)qos options:(NSDictionary *)options error:(NSError **)error;
- (BOOL)evaluateWithQoS:(unsigned int)qos options:(NSDictionary *)options request:(id)request error:(NSError **)error;
- (BOOL)unloadWithQoS:(unsigned int)qos error:(NSError **)error;
- (void)purgeCompiledModel;
- (NSDictionary *)modelAttributes;
- (id<ANEBInner>)model;
- (unsigned long long)programHandle;
- (unsigned long long)intermediateBufferHandle;
- (unsigned long long)state;
- (signed char)queueDepth;
- (unsigned int)perfStatsMask;
@end

// _ANERequest (iOS 15.0 on). Keeps the arrays passed to it without copying them.
@protocol ANEBRequest <NSObject>
+ (id)requestWithInputs:(NSArray *)inputs
           inputIndices:(NSArray *)inputIndices
                outputs:(NSArray *)outputs
          outputIndices:(NSArray *)outputIndices
          weightsBuffer:(id)weights
              perfStats:(NSArray *)statistics
         procedureIndex:(NSNumber *)procedure;
- (BOOL)validate;
@end

// _ANEIOSurfaceObject (iOS 15.0 on). Retains the surface.
@protocol ANEBSurface <NSObject>
+ (id)objectWithIOSurface:(IOSurfaceRef)surface;
@end

// _ANEDeviceInfo (macOS 26, iOS 26.1). Class methods only.
@protocol ANEBDeviceInfo <NSObject>
+ (BOOL)hasANE;
+ (BOOL)isVirtualMachine;
+ (BOOL)isInternalBuild;
+ (unsigned int)numANEs;
+ (unsigned int)numANECores;
+ (long long)aneBoardType;
+ (NSString *)aneArchitectureType;
+ (NSString *)aneSubType;
+ (NSString *)aneSubTypeVariant;
+ (NSString *)productName;
+ (NSString *)buildVersion;
@end

#endif
