package driver

// symbol indexes the driver's functions in Driver.fn.
type symbol int

// The functions without which Open fails, then those that only fail when they are called.
const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetAttribute
	cuDeviceTotalMem
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemsetD8Async
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuLaunchKernel
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	firstOptional
)

const (
	cuDeviceGetUuid = firstOptional + iota
	cuDeviceGetPCIBusId
	cuLaunchCooperativeKernel
	cuOccupancyMaxActiveBlocksPerMultiprocessor
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuStreamWaitEvent
	cuStreamQuery
	cuEventCreate
	cuEventRecord
	cuEventSynchronize
	cuEventElapsedTime
	cuEventDestroy
	cuStreamBeginCapture
	cuStreamEndCapture
	cuGraphInstantiate
	cuGraphLaunch
	cuGraphExecDestroy
	cuGraphDestroy
	cuMemHostGetDevicePointer
	cuMemHostRegister
	cuMemHostUnregister
	cuMemcpyDtoDAsync
	cuMemsetD32Async
	cuDeviceCanAccessPeer
	cuCtxEnablePeerAccess
	cuMemcpyPeerAsync
	cuLaunchKernelEx
	cuOccupancyMaxActiveClusters
	symbolCount
)

// exported holds the names as the library exports them, with the version of the interface that this package speaks.
var exported = [symbolCount]string{
	cuInit:                    "cuInit",
	cuDriverGetVersion:        "cuDriverGetVersion",
	cuGetErrorName:            "cuGetErrorName",
	cuGetErrorString:          "cuGetErrorString",
	cuDeviceGetCount:          "cuDeviceGetCount",
	cuDeviceGet:               "cuDeviceGet",
	cuDeviceGetName:           "cuDeviceGetName",
	cuDeviceGetAttribute:      "cuDeviceGetAttribute",
	cuDeviceTotalMem:          "cuDeviceTotalMem_v2",
	cuDevicePrimaryCtxRetain:  "cuDevicePrimaryCtxRetain",
	cuDevicePrimaryCtxRelease: "cuDevicePrimaryCtxRelease_v2",
	cuCtxSetCurrent:           "cuCtxSetCurrent",
	cuMemGetInfo:              "cuMemGetInfo_v2",
	cuMemAlloc:                "cuMemAlloc_v2",
	cuMemFree:                 "cuMemFree_v2",
	cuMemHostAlloc:            "cuMemHostAlloc",
	cuMemFreeHost:             "cuMemFreeHost",
	cuMemcpyHtoDAsync:         "cuMemcpyHtoDAsync_v2",
	cuMemcpyDtoHAsync:         "cuMemcpyDtoHAsync_v2",
	cuMemsetD8Async:           "cuMemsetD8Async",
	cuModuleLoadDataEx:        "cuModuleLoadDataEx",
	cuModuleUnload:            "cuModuleUnload",
	cuModuleGetFunction:       "cuModuleGetFunction",
	cuLaunchKernel:            "cuLaunchKernel",
	cuStreamCreate:            "cuStreamCreate",
	cuStreamDestroy:           "cuStreamDestroy_v2",
	cuStreamSynchronize:       "cuStreamSynchronize",

	cuDeviceGetUuid:                             "cuDeviceGetUuid_v2",
	cuDeviceGetPCIBusId:                         "cuDeviceGetPCIBusId",
	cuLaunchCooperativeKernel:                   "cuLaunchCooperativeKernel",
	cuOccupancyMaxActiveBlocksPerMultiprocessor: "cuOccupancyMaxActiveBlocksPerMultiprocessor",
	cuFuncGetAttribute:                          "cuFuncGetAttribute",
	cuFuncSetAttribute:                          "cuFuncSetAttribute",
	cuStreamWaitEvent:                           "cuStreamWaitEvent",
	cuStreamQuery:                               "cuStreamQuery",
	cuEventCreate:                               "cuEventCreate",
	cuEventRecord:                               "cuEventRecord",
	cuEventSynchronize:                          "cuEventSynchronize",
	cuEventElapsedTime:                          "cuEventElapsedTime",
	cuEventDestroy:                              "cuEventDestroy_v2",
	cuStreamBeginCapture:                        "cuStreamBeginCapture_v2",
	cuStreamEndCapture:                          "cuStreamEndCapture",
	cuGraphInstantiate:                          "cuGraphInstantiateWithFlags",
	cuGraphLaunch:                               "cuGraphLaunch",
	cuGraphExecDestroy:                          "cuGraphExecDestroy",
	cuGraphDestroy:                              "cuGraphDestroy",
	cuMemHostGetDevicePointer:                   "cuMemHostGetDevicePointer_v2",
	cuMemHostRegister:                           "cuMemHostRegister_v2",
	cuMemHostUnregister:                         "cuMemHostUnregister",
	cuMemcpyDtoDAsync:                           "cuMemcpyDtoDAsync_v2",
	cuMemsetD32Async:                            "cuMemsetD32Async",
	cuDeviceCanAccessPeer:                       "cuDeviceCanAccessPeer",
	cuCtxEnablePeerAccess:                       "cuCtxEnablePeerAccess",
	cuMemcpyPeerAsync:                           "cuMemcpyPeerAsync",
	cuLaunchKernelEx:                            "cuLaunchKernelEx",
	cuOccupancyMaxActiveClusters:                "cuOccupancyMaxActiveClusters",
}
