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
    %10:6 = stablehlo.while(%iterArg = %arg2, %iterArg_28 = %c_3, %iterArg_29 = %6, %iterArg_30 = %7, %iterArg_31 = %8, %iterArg_32 = %9) : tensor<4x256x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>
    cond {
      %c_33 = stablehlo.constant dense<4> : tensor<i32>
      %83 = stablehlo.compare  LT, %iterArg_28, %c_33,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %83 : tensor<i1>
    } do {
      %c_33 = stablehlo.constant dense<0> : tensor<i32>
      %c_34 = stablehlo.constant dense<0> : tensor<i32>
      %83 = stablehlo.dynamic_slice %iterArg, %iterArg_28, %c_33, %c_34, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
      %84 = stablehlo.reshape %83 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
      %85:4 = func.call @closed_call(%iterArg_29, %84) : (tensor<4096x256xf32>, tensor<256x256xf32>) -> (tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>)
      %86 = stablehlo.broadcast_in_dim %85#1, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %c_36 = stablehlo.constant dense<0> : tensor<i32>
      %87 = stablehlo.dynamic_update_slice %iterArg_30, %86, %iterArg_28, %c_35, %c_36 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %88 = stablehlo.broadcast_in_dim %85#2, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %c_38 = stablehlo.constant dense<0> : tensor<i32>
      %89 = stablehlo.dynamic_update_slice %iterArg_31, %88, %iterArg_28, %c_37, %c_38 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %90 = stablehlo.broadcast_in_dim %85#3, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %c_39 = stablehlo.constant dense<0> : tensor<i32>
      %c_40 = stablehlo.constant dense<0> : tensor<i32>
      %91 = stablehlo.dynamic_update_slice %iterArg_32, %90, %iterArg_28, %c_39, %c_40 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %c_41 = stablehlo.constant dense<1> : tensor<i32>
      %92 = stablehlo.add %iterArg_28, %c_41 : tensor<i32>
      stablehlo.return %iterArg, %92, %85#0, %87, %89, %91 : tensor<4x256x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>
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
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %25 = stablehlo.compare  EQ, %24, %19,  FLOAT : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %28 = stablehlo.select %25, %26, %27 : tensor<4096xi1>, tensor<4096xf32>
    %29 = stablehlo.divide %23, %28 : tensor<4096xf32>
    %30 = stablehlo.is_finite %19 : (tensor<4096xf32>) -> tensor<4096xi1>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %32 = stablehlo.select %30, %19, %31 : tensor<4096xi1>, tensor<4096xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1] : (tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %36 = stablehlo.subtract %11, %35 : tensor<4096x1024xf32>
    %37 = stablehlo.exponential %36 : tensor<4096x1024xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_14) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %39 = stablehlo.sign %38 : tensor<4096xf32>
    %40 = stablehlo.abs %38 : tensor<4096xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %42 = stablehlo.compare  GE, %38, %41,  FLOAT : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %43 = stablehlo.log %40 : tensor<4096xf32>
    %44 = stablehlo.add %43, %32 : tensor<4096xf32>
    %45 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4096xi32>) -> tensor<4096x1xi32>
    %46:2 = call @take_along_axis(%11, %45) : (tensor<4096x1024xf32>, tensor<4096x1xi32>) -> (tensor<4096x1xf32>, tensor<4096x1x1xi32>)
    %47 = stablehlo.slice %46#0 [0:4096, 0:1] : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
    %48 = stablehlo.reshape %47 : (tensor<4096x1xf32>) -> tensor<4096xf32>
    %49 = stablehlo.subtract %44, %48 : tensor<4096xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_16) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
    %cst_17 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %51 = stablehlo.divide %50, %cst_17 : tensor<f32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_19 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %52 = stablehlo.divide %cst_18, %cst_19 : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %54 = stablehlo.negate %53 : tensor<4096xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.pad %55, %cst_20, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4096x1xf32>, tensor<f32>) -> tensor<4096x1xf32>
    %57 = call @take_along_axis_27(%46#1, %56) : (tensor<4096x1x1xi32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %58 = stablehlo.divide %53, %40 : tensor<4096xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<4096xf32>
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
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %c_23 = stablehlo.constant dense<0> : tensor<i32>
    %71:7 = stablehlo.while(%iterArg = %arg2, %iterArg_28 = %10#3, %iterArg_29 = %10#4, %iterArg_30 = %10#5, %iterArg_31 = %c_23, %iterArg_32 = %69, %iterArg_33 = %70) : tensor<4x256x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x256x256xf32>
    cond {
      %c_34 = stablehlo.constant dense<4> : tensor<i32>
      %83 = stablehlo.compare  LT, %iterArg_31, %c_34,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %83 : tensor<i1>
    } do {
      %c_34 = stablehlo.constant dense<4> : tensor<i32>
      %83 = stablehlo.subtract %c_34, %iterArg_31 : tensor<i32>
      %c_35 = stablehlo.constant dense<1> : tensor<i32>
      %84 = stablehlo.subtract %83, %c_35 : tensor<i32>
      %c_36 = stablehlo.constant dense<0> : tensor<i32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %85 = stablehlo.dynamic_slice %iterArg, %84, %c_36, %c_37, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
      %86 = stablehlo.reshape %85 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
      %c_38 = stablehlo.constant dense<0> : tensor<i32>
      %c_39 = stablehlo.constant dense<0> : tensor<i32>
      %87 = stablehlo.dynamic_slice %iterArg_28, %84, %c_38, %c_39, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %88 = stablehlo.reshape %87 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %c_40 = stablehlo.constant dense<0> : tensor<i32>
      %c_41 = stablehlo.constant dense<0> : tensor<i32>
      %89 = stablehlo.dynamic_slice %iterArg_29, %84, %c_40, %c_41, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %90 = stablehlo.reshape %89 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %c_42 = stablehlo.constant dense<0> : tensor<i32>
      %c_43 = stablehlo.constant dense<0> : tensor<i32>
      %91 = stablehlo.dynamic_slice %iterArg_30, %84, %c_42, %c_43, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %92 = stablehlo.reshape %91 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %93:2 = func.call @closed_call_40(%iterArg_32, %86, %88, %90, %92) : (tensor<4096x256xf32>, tensor<256x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>) -> (tensor<4096x256xf32>, tensor<256x256xf32>)
      %94 = stablehlo.broadcast_in_dim %93#1, dims = [1, 2] : (tensor<256x256xf32>) -> tensor<1x256x256xf32>
      %c_44 = stablehlo.constant dense<0> : tensor<i32>
      %c_45 = stablehlo.constant dense<0> : tensor<i32>
      %95 = stablehlo.dynamic_update_slice %iterArg_33, %94, %84, %c_44, %c_45 : (tensor<4x256x256xf32>, tensor<1x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x256xf32>
      %96 = stablehlo.add %iterArg_31, %c_35 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_28, %iterArg_29, %iterArg_30, %96, %93#0, %95 : tensor<4x256x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x256x256xf32>
    }
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %73 = "stablehlo.scatter"(%72, %5, %71#5) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %83 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %83 : tensor<f32>
    }) : (tensor<1024x256xf32>, tensor<4096x1xi32>, tensor<4096x256xf32>) -> tensor<1024x256xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %75 = stablehlo.multiply %74, %73 : tensor<1024x256xf32>
    %76 = stablehlo.subtract %arg0, %75 : tensor<1024x256xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %78 = stablehlo.multiply %77, %68 : tensor<256x1024xf32>
    %79 = stablehlo.subtract %arg1, %78 : tensor<256x1024xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %81 = stablehlo.multiply %80, %71#6 : tensor<4x256x256xf32>
    %82 = stablehlo.subtract %arg2, %81 : tensor<4x256x256xf32>
    return %76, %79, %82, %51 : tensor<1024x256xf32>, tensor<256x1024xf32>, tensor<4x256x256xf32>, tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<4096x256xf32>, %arg1: tensor<256x256xf32>) -> (tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
    %1 = stablehlo.tanh %0 : tensor<4096x256xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
    %3 = stablehlo.subtract %2, %1 : tensor<4096x256xf32>
    %4 = stablehlo.add %arg0, %1 : tensor<4096x256xf32>
    return %4, %arg0, %1, %3 : tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x256xf32>
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
  func.func private @take_along_axis_27(%arg0: tensor<4096x1x1xi32>, %arg1: tensor<4096x1xf32>) -> tensor<4096x1024xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4096x1024xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4096x1024xf32>, tensor<4096x1x1xi32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    return %1 : tensor<4096x1024xf32>
  }
  func.func private @closed_call_40(%arg0: tensor<4096x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<4096x256xf32>, %arg3: tensor<4096x256xf32>, %arg4: tensor<4096x256xf32>) -> (tensor<4096x256xf32>, tensor<256x256xf32>) {
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
