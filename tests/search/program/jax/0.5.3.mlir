module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x256xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<256x1024xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<4x256x256xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<4096xi32>, %arg4: tensor<4096xi32>) -> (tensor<1024x256xf32> {jax.result_info = "result[0]['emb']"}, tensor<256x1024xf32> {jax.result_info = "result[0]['head']"}, tensor<4x256x256xf32> {jax.result_info = "result[0]['layers']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4096xi32>
    %1 = stablehlo.compare  LT, %arg3, %0,  SIGNED : (tensor<4096xi32>, tensor<4096xi32>) -> tensor<4096xi1>
    %c_0 = stablehlo.constant dense<1024> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4096xi32>
    %3 = stablehlo.add %arg3, %2 : tensor<4096xi32>
    %4 = stablehlo.select %1, %3, %arg3 : tensor<4096xi1>, tensor<4096xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4096xi32>) -> tensor<4096x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<1024x256xf32>, tensor<4096x1xi32>) -> tensor<4096x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4096x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x4096x256xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x4096x256xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %10:6 = stablehlo.while(%iterArg = %arg2, %iterArg_17 = %c_3, %iterArg_18 = %6, %iterArg_19 = %7, %iterArg_20 = %8, %iterArg_21 = %9) : tensor<4x256x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>
     cond {
      %c_22 = stablehlo.constant dense<4> : tensor<i32>
      %84 = stablehlo.compare  LT, %iterArg_17, %c_22,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %84 : tensor<i1>
    } do {
      %c_22 = stablehlo.constant dense<0> : tensor<i32>
      %84 = stablehlo.dynamic_slice %iterArg, %iterArg_17, %c_22, %c_22, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
      %85 = stablehlo.reshape %84 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
      %86:4 = func.call @None(%iterArg_18, %85) : (tensor<4096x256xf32>, tensor<256x256xf32>) -> (tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>)
      %87 = stablehlo.broadcast_in_dim %86#1, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %88 = stablehlo.dynamic_update_slice %iterArg_19, %87, %iterArg_17, %c_22, %c_22 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %89 = stablehlo.broadcast_in_dim %86#2, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %90 = stablehlo.dynamic_update_slice %iterArg_20, %89, %iterArg_17, %c_22, %c_22 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %91 = stablehlo.broadcast_in_dim %86#3, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %92 = stablehlo.dynamic_update_slice %iterArg_21, %91, %iterArg_17, %c_22, %c_22 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %c_23 = stablehlo.constant dense<1> : tensor<i32>
      %93 = stablehlo.add %iterArg_17, %c_23 : tensor<i32>
      stablehlo.return %iterArg, %93, %86#0, %88, %90, %92 : tensor<4x256x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>
    }
    %11 = stablehlo.dot_general %10#2, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<256x1024xf32>) -> tensor<4096x1024xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_4) applies stablehlo.maximum across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %13 = stablehlo.reshape %12 : (tensor<4096xf32>) -> tensor<4096x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %15 = stablehlo.compare  EQ, %11, %14,  FLOAT : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xi1>
    %16 = stablehlo.convert %15 : (tensor<4096x1024xi1>) -> tensor<4096x1024xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %19 = stablehlo.maximum %18, %12 : tensor<4096xf32>
    %20 = stablehlo.compare  EQ, %12, %19,  FLOAT : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %23 = stablehlo.select %20, %21, %22 : tensor<4096xi1>, tensor<4096xf32>
    %24 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %25 = stablehlo.compare  EQ, %24, %19,  FLOAT : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %27 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %28 = stablehlo.select %25, %26, %27 : tensor<4096xi1>, tensor<4096xf32>
    %29 = stablehlo.divide %23, %28 : tensor<4096xf32>
    %30 = stablehlo.is_finite %19 : (tensor<4096xf32>) -> tensor<4096xi1>
    %31 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %32 = stablehlo.select %30, %19, %31 : tensor<4096xi1>, tensor<4096xf32>
    %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %36 = stablehlo.subtract %11, %35 : tensor<4096x1024xf32>
    %37 = stablehlo.exponential %36 : tensor<4096x1024xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %39 = stablehlo.sign %38 : tensor<4096xf32>
    %40 = stablehlo.abs %38 : tensor<4096xf32>
    %41 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %42 = stablehlo.compare  GE, %38, %41,  FLOAT : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %43 = stablehlo.log %40 : tensor<4096xf32>
    %44 = stablehlo.add %43, %32 : tensor<4096xf32>
    %45 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4096xi32>) -> tensor<4096x1xi32>
    %46:2 = call @take_along_axis(%11, %45) : (tensor<4096x1024xf32>, tensor<4096x1xi32>) -> (tensor<4096x1xf32>, tensor<4096x1x1xi32>)
    %47 = stablehlo.slice %46#0 [0:4096, 0:1] : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
    %48 = stablehlo.reshape %47 : (tensor<4096x1xf32>) -> tensor<4096xf32>
    %49 = stablehlo.subtract %44, %48 : tensor<4096xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
    %cst_12 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %51 = stablehlo.divide %50, %cst_12 : tensor<f32>
    %52 = stablehlo.divide %cst_7, %cst_12 : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %54 = stablehlo.negate %53 : tensor<4096xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1xf32>
    %56 = stablehlo.pad %55, %cst_8, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4096x1xf32>, tensor<f32>) -> tensor<4096x1xf32>
    %57 = call @take_along_axis_0(%46#1, %56) : (tensor<4096x1x1xi32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %58 = stablehlo.divide %53, %40 : tensor<4096xf32>
    %59 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %60 = stablehlo.select %42, %59, %58 : tensor<4096xi1>, tensor<4096xf32>
    %61 = stablehlo.select %42, %58, %59 : tensor<4096xi1>, tensor<4096xf32>
    %62 = stablehlo.negate %60 : tensor<4096xf32>
    %63 = stablehlo.add %61, %62 : tensor<4096xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
    %65 = stablehlo.multiply %64, %37 : tensor<4096x1024xf32>
    %66 = stablehlo.add %57, %65 : tensor<4096x1024xf32>
    %67 = stablehlo.dot_general %66, %10#2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x1024xf32>, tensor<4096x256xf32>) -> tensor<1024x256xf32>
    %68 = stablehlo.transpose %67, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %69 = stablehlo.dot_general %66, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4096x1024xf32>, tensor<256x1024xf32>) -> tensor<4096x256xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %71:7 = stablehlo.while(%iterArg = %arg2, %iterArg_17 = %10#3, %iterArg_18 = %10#4, %iterArg_19 = %10#5, %iterArg_20 = %c_14, %iterArg_21 = %69, %iterArg_22 = %70) : tensor<4x256x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x256x256xf32>
     cond {
      %c_23 = stablehlo.constant dense<4> : tensor<i32>
      %84 = stablehlo.compare  LT, %iterArg_20, %c_23,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %84 : tensor<i1>
    } do {
      %c_23 = stablehlo.constant dense<4> : tensor<i32>
      %84 = stablehlo.subtract %c_23, %iterArg_20 : tensor<i32>
      %c_24 = stablehlo.constant dense<1> : tensor<i32>
      %85 = stablehlo.subtract %84, %c_24 : tensor<i32>
      %c_25 = stablehlo.constant dense<0> : tensor<i32>
      %86 = stablehlo.dynamic_slice %iterArg, %85, %c_25, %c_25, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
      %87 = stablehlo.reshape %86 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
      %88 = stablehlo.dynamic_slice %iterArg_17, %85, %c_25, %c_25, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %89 = stablehlo.reshape %88 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %90 = stablehlo.dynamic_slice %iterArg_18, %85, %c_25, %c_25, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %91 = stablehlo.reshape %90 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %92 = stablehlo.dynamic_slice %iterArg_19, %85, %c_25, %c_25, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %93 = stablehlo.reshape %92 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %94:2 = func.call @None_1(%iterArg_21, %87, %89, %91, %93) : (tensor<4096x256xf32>, tensor<256x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>) -> (tensor<4096x256xf32>, tensor<256x256xf32>)
      %95 = stablehlo.broadcast_in_dim %94#1, dims = [1, 2] : (tensor<256x256xf32>) -> tensor<1x256x256xf32>
      %96 = stablehlo.dynamic_update_slice %iterArg_22, %95, %85, %c_25, %c_25 : (tensor<4x256x256xf32>, tensor<1x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x256xf32>
      %97 = stablehlo.add %iterArg_20, %c_24 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_17, %iterArg_18, %iterArg_19, %97, %94#0, %96 : tensor<4x256x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x256x256xf32>
    }
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71#5 init: %cst_15) applies stablehlo.add across dimensions = [] : (tensor<4096x256xf32>, tensor<f32>) -> tensor<4096x256xf32>
    %73 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %74 = "stablehlo.scatter"(%73, %5, %72) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %84 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %84 : tensor<f32>
    }) : (tensor<1024x256xf32>, tensor<4096x1xi32>, tensor<4096x256xf32>) -> tensor<1024x256xf32>
    %cst_16 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %76 = stablehlo.multiply %75, %74 : tensor<1024x256xf32>
    %77 = stablehlo.subtract %arg0, %76 : tensor<1024x256xf32>
    %78 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %79 = stablehlo.multiply %78, %68 : tensor<256x1024xf32>
    %80 = stablehlo.subtract %arg1, %79 : tensor<256x1024xf32>
    %81 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %82 = stablehlo.multiply %81, %71#6 : tensor<4x256x256xf32>
    %83 = stablehlo.subtract %arg2, %82 : tensor<4x256x256xf32>
    return %77, %80, %83, %51 : tensor<1024x256xf32>, tensor<256x1024xf32>, tensor<4x256x256xf32>, tensor<f32>
  }
  func.func private @None(%arg0: tensor<4096x256xf32>, %arg1: tensor<256x256xf32>) -> (tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
    %1 = stablehlo.tanh %0 : tensor<4096x256xf32>
    %2 = stablehlo.add %arg0, %1 : tensor<4096x256xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %4 = stablehlo.subtract %3, %1 : tensor<4096x256xf32>
    return %2, %arg0, %1, %4 : tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4096x1024xf32>, %arg1: tensor<4096x1xi32>) -> (tensor<4096x1xf32>, tensor<4096x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4096x1xi32>
    %1 = stablehlo.compare  LT, %arg1, %0,  SIGNED : (tensor<4096x1xi32>, tensor<4096x1xi32>) -> tensor<4096x1xi1>
    %c_0 = stablehlo.constant dense<1024> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4096x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4096x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4096x1xi1>, tensor<4096x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4096x1xi32>) -> tensor<4096x1x1xi32>
    %c_1 = stablehlo.constant dense<1023> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4096x1x1xi32>
    %7 = stablehlo.compare  GE, %5, %6,  SIGNED : (tensor<4096x1x1xi32>, tensor<4096x1x1xi32>) -> tensor<4096x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4096x1x1xi32>
    %10 = stablehlo.compare  LE, %5, %9,  SIGNED : (tensor<4096x1x1xi32>, tensor<4096x1x1xi32>) -> tensor<4096x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4096x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<4096x1x1xi1>, tensor<i1>) -> tensor<4096x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<4096x1024xf32>, tensor<4096x1x1xi32>) -> tensor<4096x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4096x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4096x1xi1>, tensor<4096x1xf32>
    return %15, %5 : tensor<4096x1xf32>, tensor<4096x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4096x1x1xi32>, %arg1: tensor<4096x1xf32>) -> tensor<4096x1024xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4096x1024xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4096x1024xf32>, tensor<4096x1x1xi32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    return %1 : tensor<4096x1024xf32>
  }
  func.func private @None_1(%arg0: tensor<4096x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<4096x256xf32>, %arg3: tensor<4096x256xf32>, %arg4: tensor<4096x256xf32>) -> (tensor<4096x256xf32>, tensor<256x256xf32>) {
    %0 = stablehlo.multiply %arg0, %arg4 : tensor<4096x256xf32>
    %1 = stablehlo.multiply %0, %arg3 : tensor<4096x256xf32>
    %2 = stablehlo.add %0, %1 : tensor<4096x256xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<4096x256xf32>) -> tensor<256x256xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %5 = stablehlo.dot_general %2, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<4096x256xf32>
    return %6, %4 : tensor<4096x256xf32>, tensor<256x256xf32>
  }
}
