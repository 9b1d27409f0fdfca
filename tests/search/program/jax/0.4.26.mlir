module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x256xf32> {mhlo.layout_mode = "default", tf.aliasing_output = 0 : i32}, %arg1: tensor<256x1024xf32> {mhlo.layout_mode = "default", tf.aliasing_output = 1 : i32}, %arg2: tensor<4x256x256xf32> {mhlo.layout_mode = "default", tf.aliasing_output = 2 : i32}, %arg3: tensor<4096xi32> {mhlo.layout_mode = "default"}, %arg4: tensor<4096xi32> {mhlo.layout_mode = "default"}) -> (tensor<1024x256xf32> {jax.result_info = "[0]['emb']", mhlo.layout_mode = "default"}, tensor<256x1024xf32> {jax.result_info = "[0]['head']", mhlo.layout_mode = "default"}, tensor<4x256x256xf32> {jax.result_info = "[0]['layers']", mhlo.layout_mode = "default"}, tensor<f32> {jax.result_info = "[1]", mhlo.layout_mode = "default"}) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<4096xi32>
    %2 = stablehlo.compare  LT, %arg3, %1,  SIGNED : (tensor<4096xi32>, tensor<4096xi32>) -> tensor<4096xi1>
    %3 = stablehlo.constant dense<1024> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i32>) -> tensor<4096xi32>
    %5 = stablehlo.add %arg3, %4 : tensor<4096xi32>
    %6 = stablehlo.select %2, %5, %arg3 : tensor<4096xi1>, tensor<4096xi32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<4096xi32>) -> tensor<4096x1xi32>
    %8 = "stablehlo.gather"(%arg0, %7) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>} : (tensor<1024x256xf32>, tensor<4096x1xi32>) -> tensor<4096x256xf32>
    %9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<4x4096x256xf32>
    %11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<4x4096x256xf32>
    %13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<4x4096x256xf32>
    %15 = stablehlo.constant dense<0> : tensor<i32>
    %16:6 = stablehlo.while(%iterArg = %arg2, %iterArg_0 = %15, %iterArg_1 = %8, %iterArg_2 = %10, %iterArg_3 = %12, %iterArg_4 = %14) : tensor<4x256x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>
     cond {
      %100 = stablehlo.constant dense<4> : tensor<i32>
      %101 = stablehlo.compare  LT, %iterArg_0, %100,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %101 : tensor<i1>
    } do {
      %100 = stablehlo.constant dense<0> : tensor<i32>
      %101 = stablehlo.compare  LT, %iterArg_0, %100,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %102 = stablehlo.convert %iterArg_0 : tensor<i32>
      %103 = stablehlo.constant dense<4> : tensor<i32>
      %104 = stablehlo.add %102, %103 : tensor<i32>
      %105 = stablehlo.select %101, %104, %iterArg_0 : tensor<i1>, tensor<i32>
      %106 = stablehlo.constant dense<0> : tensor<i32>
      %107 = stablehlo.constant dense<0> : tensor<i32>
      %108 = stablehlo.dynamic_slice %iterArg, %105, %106, %107, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
      %109 = stablehlo.reshape %108 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
      %110 = stablehlo.dot_general %iterArg_1, %109, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
      %111 = stablehlo.tanh %110 : tensor<4096x256xf32>
      %112 = stablehlo.add %iterArg_1, %111 : tensor<4096x256xf32>
      %113 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %114 = stablehlo.broadcast_in_dim %113, dims = [] : (tensor<f32>) -> tensor<4096x256xf32>
      %115 = stablehlo.subtract %114, %111 : tensor<4096x256xf32>
      %116 = stablehlo.broadcast_in_dim %iterArg_1, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %117 = stablehlo.constant dense<0> : tensor<i32>
      %118 = stablehlo.compare  LT, %iterArg_0, %117,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %119 = stablehlo.convert %iterArg_0 : tensor<i32>
      %120 = stablehlo.constant dense<4> : tensor<i32>
      %121 = stablehlo.add %119, %120 : tensor<i32>
      %122 = stablehlo.select %118, %121, %iterArg_0 : tensor<i1>, tensor<i32>
      %123 = stablehlo.constant dense<0> : tensor<i32>
      %124 = stablehlo.constant dense<0> : tensor<i32>
      %125 = stablehlo.dynamic_update_slice %iterArg_2, %116, %122, %123, %124 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %126 = stablehlo.broadcast_in_dim %111, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %127 = stablehlo.constant dense<0> : tensor<i32>
      %128 = stablehlo.compare  LT, %iterArg_0, %127,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %129 = stablehlo.convert %iterArg_0 : tensor<i32>
      %130 = stablehlo.constant dense<4> : tensor<i32>
      %131 = stablehlo.add %129, %130 : tensor<i32>
      %132 = stablehlo.select %128, %131, %iterArg_0 : tensor<i1>, tensor<i32>
      %133 = stablehlo.constant dense<0> : tensor<i32>
      %134 = stablehlo.constant dense<0> : tensor<i32>
      %135 = stablehlo.dynamic_update_slice %iterArg_3, %126, %132, %133, %134 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %136 = stablehlo.broadcast_in_dim %115, dims = [1, 2] : (tensor<4096x256xf32>) -> tensor<1x4096x256xf32>
      %137 = stablehlo.constant dense<0> : tensor<i32>
      %138 = stablehlo.compare  LT, %iterArg_0, %137,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %139 = stablehlo.convert %iterArg_0 : tensor<i32>
      %140 = stablehlo.constant dense<4> : tensor<i32>
      %141 = stablehlo.add %139, %140 : tensor<i32>
      %142 = stablehlo.select %138, %141, %iterArg_0 : tensor<i1>, tensor<i32>
      %143 = stablehlo.constant dense<0> : tensor<i32>
      %144 = stablehlo.constant dense<0> : tensor<i32>
      %145 = stablehlo.dynamic_update_slice %iterArg_4, %136, %142, %143, %144 : (tensor<4x4096x256xf32>, tensor<1x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4096x256xf32>
      %146 = stablehlo.constant dense<1> : tensor<i32>
      %147 = stablehlo.add %iterArg_0, %146 : tensor<i32>
      stablehlo.return %iterArg, %147, %112, %125, %135, %145 : tensor<4x256x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>
    }
    %17 = stablehlo.dot_general %16#2, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<256x1024xf32>) -> tensor<4096x1024xf32>
    %18 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %19 = stablehlo.reduce(%17 init: %18) applies stablehlo.maximum across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %20 = stablehlo.reshape %19 : (tensor<4096xf32>) -> tensor<4096x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %22 = stablehlo.compare  EQ, %17, %21,  FLOAT : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xi1>
    %23 = stablehlo.convert %22 : (tensor<4096x1024xi1>) -> tensor<4096x1024xf32>
    %24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%23 init: %24) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %26 = stablehlo.is_finite %19 : (tensor<4096xf32>) -> tensor<4096xi1>
    %27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %29 = stablehlo.select %26, %19, %28 : tensor<4096xi1>, tensor<4096xf32>
    %30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %32 = stablehlo.broadcast_in_dim %29, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1] : (tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %34 = stablehlo.subtract %17, %33 : tensor<4096x1024xf32>
    %35 = stablehlo.exponential %34 : tensor<4096x1024xf32>
    %36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%35 init: %36) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
    %38 = stablehlo.sign %37 : tensor<4096xf32>
    %39 = stablehlo.abs %37 : tensor<4096xf32>
    %40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %42 = stablehlo.compare  GE, %37, %41,  FLOAT : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xi1>
    %43 = stablehlo.log %39 : tensor<4096xf32>
    %44 = stablehlo.add %43, %29 : tensor<4096xf32>
    %45 = stablehlo.broadcast_in_dim %arg4, dims = [0] : (tensor<4096xi32>) -> tensor<4096x1xi32>
    %46:2 = call @take_along_axis(%17, %45) : (tensor<4096x1024xf32>, tensor<4096x1xi32>) -> (tensor<4096x1xf32>, tensor<4096x1x2xi32>)
    %47 = stablehlo.constant dense<0> : tensor<i32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %49 = "stablehlo.gather"(%46#0, %48) {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, indices_are_sorted = true, slice_sizes = array<i64: 4096, 1>} : (tensor<4096x1xf32>, tensor<1xi32>) -> tensor<4096xf32>
    %50 = stablehlo.subtract %44, %49 : tensor<4096xf32>
    %51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%50 init: %51) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
    %53 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %54 = stablehlo.divide %52, %53 : tensor<f32>
    %55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %57 = stablehlo.divide %55, %56 : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %59 = stablehlo.negate %58 : tensor<4096xf32>
    %60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%59 init: %60) applies stablehlo.add across dimensions = [] : (tensor<4096xf32>, tensor<f32>) -> tensor<4096xf32>
    %62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [] : (tensor<f32>) -> tensor<4096x1xf32>
    %64 = "stablehlo.scatter"(%63, %48, %61) ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %100 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %100 : tensor<f32>
    }) {indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true} : (tensor<4096x1xf32>, tensor<1xi32>, tensor<4096xf32>) -> tensor<4096x1xf32>
    %65 = call @take_along_axis_0(%46#1, %64) : (tensor<4096x1x2xi32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    %66 = stablehlo.divide %58, %39 : tensor<4096xf32>
    %67 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %67, dims = [] : (tensor<f32>) -> tensor<4096xf32>
    %69 = stablehlo.select %42, %68, %66 : tensor<4096xi1>, tensor<4096xf32>
    %70 = stablehlo.select %42, %66, %68 : tensor<4096xi1>, tensor<4096xf32>
    %71 = stablehlo.negate %69 : tensor<4096xf32>
    %72 = stablehlo.add %70, %71 : tensor<4096xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
    %74 = stablehlo.multiply %73, %35 : tensor<4096x1024xf32>
    %75 = stablehlo.add %65, %74 : tensor<4096x1024xf32>
    %76 = stablehlo.dot_general %75, %16#2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x1024xf32>, tensor<4096x256xf32>) -> tensor<1024x256xf32>
    %77 = stablehlo.transpose %76, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %78 = stablehlo.dot_general %75, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4096x1024xf32>, tensor<256x1024xf32>) -> tensor<4096x256xf32>
    %79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %81 = stablehlo.constant dense<0> : tensor<i32>
    %82:7 = stablehlo.while(%iterArg = %arg2, %iterArg_0 = %16#3, %iterArg_1 = %16#4, %iterArg_2 = %16#5, %iterArg_3 = %81, %iterArg_4 = %78, %iterArg_5 = %80) : tensor<4x256x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x256x256xf32>
     cond {
      %100 = stablehlo.constant dense<4> : tensor<i32>
      %101 = stablehlo.compare  LT, %iterArg_3, %100,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %101 : tensor<i1>
    } do {
      %100 = stablehlo.constant dense<4> : tensor<i32>
      %101 = stablehlo.subtract %100, %iterArg_3 : tensor<i32>
      %102 = stablehlo.constant dense<1> : tensor<i32>
      %103 = stablehlo.subtract %101, %102 : tensor<i32>
      %104 = stablehlo.constant dense<0> : tensor<i32>
      %105 = stablehlo.compare  LT, %103, %104,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %106 = stablehlo.convert %103 : tensor<i32>
      %107 = stablehlo.constant dense<4> : tensor<i32>
      %108 = stablehlo.add %106, %107 : tensor<i32>
      %109 = stablehlo.select %105, %108, %103 : tensor<i1>, tensor<i32>
      %110 = stablehlo.constant dense<0> : tensor<i32>
      %111 = stablehlo.constant dense<0> : tensor<i32>
      %112 = stablehlo.dynamic_slice %iterArg, %109, %110, %111, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
      %113 = stablehlo.reshape %112 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
      %114 = stablehlo.constant dense<0> : tensor<i32>
      %115 = stablehlo.compare  LT, %103, %114,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %116 = stablehlo.convert %103 : tensor<i32>
      %117 = stablehlo.constant dense<4> : tensor<i32>
      %118 = stablehlo.add %116, %117 : tensor<i32>
      %119 = stablehlo.select %115, %118, %103 : tensor<i1>, tensor<i32>
      %120 = stablehlo.constant dense<0> : tensor<i32>
      %121 = stablehlo.constant dense<0> : tensor<i32>
      %122 = stablehlo.dynamic_slice %iterArg_0, %119, %120, %121, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %123 = stablehlo.reshape %122 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %124 = stablehlo.constant dense<0> : tensor<i32>
      %125 = stablehlo.compare  LT, %103, %124,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %126 = stablehlo.convert %103 : tensor<i32>
      %127 = stablehlo.constant dense<4> : tensor<i32>
      %128 = stablehlo.add %126, %127 : tensor<i32>
      %129 = stablehlo.select %125, %128, %103 : tensor<i1>, tensor<i32>
      %130 = stablehlo.constant dense<0> : tensor<i32>
      %131 = stablehlo.constant dense<0> : tensor<i32>
      %132 = stablehlo.dynamic_slice %iterArg_1, %129, %130, %131, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %133 = stablehlo.reshape %132 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %134 = stablehlo.constant dense<0> : tensor<i32>
      %135 = stablehlo.compare  LT, %103, %134,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %136 = stablehlo.convert %103 : tensor<i32>
      %137 = stablehlo.constant dense<4> : tensor<i32>
      %138 = stablehlo.add %136, %137 : tensor<i32>
      %139 = stablehlo.select %135, %138, %103 : tensor<i1>, tensor<i32>
      %140 = stablehlo.constant dense<0> : tensor<i32>
      %141 = stablehlo.constant dense<0> : tensor<i32>
      %142 = stablehlo.dynamic_slice %iterArg_2, %139, %140, %141, sizes = [1, 4096, 256] : (tensor<4x4096x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4096x256xf32>
      %143 = stablehlo.reshape %142 : (tensor<1x4096x256xf32>) -> tensor<4096x256xf32>
      %144 = stablehlo.multiply %iterArg_4, %143 : tensor<4096x256xf32>
      %145 = stablehlo.multiply %144, %133 : tensor<4096x256xf32>
      %146 = stablehlo.add %144, %145 : tensor<4096x256xf32>
      %147 = stablehlo.dot_general %146, %123, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<4096x256xf32>) -> tensor<256x256xf32>
      %148 = stablehlo.transpose %147, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
      %149 = stablehlo.dot_general %146, %113, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4096x256xf32>, tensor<256x256xf32>) -> tensor<4096x256xf32>
      %150 = stablehlo.add %iterArg_4, %149 : tensor<4096x256xf32>
      %151 = stablehlo.broadcast_in_dim %148, dims = [1, 2] : (tensor<256x256xf32>) -> tensor<1x256x256xf32>
      %152 = stablehlo.constant dense<0> : tensor<i32>
      %153 = stablehlo.compare  LT, %103, %152,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %154 = stablehlo.convert %103 : tensor<i32>
      %155 = stablehlo.constant dense<4> : tensor<i32>
      %156 = stablehlo.add %154, %155 : tensor<i32>
      %157 = stablehlo.select %153, %156, %103 : tensor<i1>, tensor<i32>
      %158 = stablehlo.constant dense<0> : tensor<i32>
      %159 = stablehlo.constant dense<0> : tensor<i32>
      %160 = stablehlo.dynamic_update_slice %iterArg_5, %151, %157, %158, %159 : (tensor<4x256x256xf32>, tensor<1x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x256xf32>
      %161 = stablehlo.constant dense<1> : tensor<i32>
      %162 = stablehlo.add %iterArg_3, %161 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_0, %iterArg_1, %iterArg_2, %162, %150, %160 : tensor<4x256x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<4x4096x256xf32>, tensor<i32>, tensor<4096x256xf32>, tensor<4x256x256xf32>
    }
    %83 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %84 = stablehlo.reduce(%82#5 init: %83) applies stablehlo.add across dimensions = [] : (tensor<4096x256xf32>, tensor<f32>) -> tensor<4096x256xf32>
    %85 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %87 = "stablehlo.scatter"(%86, %7, %84) ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %100 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %100 : tensor<f32>
    }) {indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false} : (tensor<1024x256xf32>, tensor<4096x1xi32>, tensor<4096x256xf32>) -> tensor<1024x256xf32>
    %88 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %90 = stablehlo.multiply %89, %87 : tensor<1024x256xf32>
    %91 = stablehlo.subtract %arg0, %90 : tensor<1024x256xf32>
    %92 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %94 = stablehlo.multiply %93, %77 : tensor<256x1024xf32>
    %95 = stablehlo.subtract %arg1, %94 : tensor<256x1024xf32>
    %96 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %98 = stablehlo.multiply %97, %82#6 : tensor<4x256x256xf32>
    %99 = stablehlo.subtract %arg2, %98 : tensor<4x256x256xf32>
    return %91, %95, %99, %54 : tensor<1024x256xf32>, tensor<256x1024xf32>, tensor<4x256x256xf32>, tensor<f32>
  }
  func.func private @take_along_axis(%arg0: tensor<4096x1024xf32>, %arg1: tensor<4096x1xi32>) -> (tensor<4096x1xf32>, tensor<4096x1x2xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<4096x1x1xi32>
    %1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<4096x1xi32>
    %3 = stablehlo.compare  LT, %arg1, %2,  SIGNED : (tensor<4096x1xi32>, tensor<4096x1xi32>) -> tensor<4096x1xi1>
    %4 = stablehlo.constant dense<1024> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<4096x1xi32>
    %6 = stablehlo.add %arg1, %5 : tensor<4096x1xi32>
    %7 = stablehlo.select %3, %6, %arg1 : tensor<4096x1xi1>, tensor<4096x1xi32>
    %8 = stablehlo.reshape %7 : (tensor<4096x1xi32>) -> tensor<4096x1x1xi32>
    %9 = stablehlo.concatenate %0, %8, dim = 2 : (tensor<4096x1x1xi32>, tensor<4096x1x1xi32>) -> tensor<4096x1x2xi32>
    %10 = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %11 = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %12 = stablehlo.constant dense<4096> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.constant dense<1024> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %13, %15, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %19 = stablehlo.compare  LT, %10, %18,  SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %20 = stablehlo.constant dense<2> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %22 = stablehlo.add %10, %21 : tensor<2xi32>
    %23 = stablehlo.select %19, %22, %10 : tensor<2xi1>, tensor<2xi32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %25 = "stablehlo.gather"(%16, %24) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>} : (tensor<2xi32>, tensor<2x1xi32>) -> tensor<2xi32>
    %26 = stablehlo.constant dense<1> : tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.constant dense<1> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %30 = stablehlo.concatenate %27, %29, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %31 = stablehlo.constant dense<0> : tensor<i32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %33 = stablehlo.compare  LT, %11, %32,  SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %34 = stablehlo.constant dense<2> : tensor<i32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %36 = stablehlo.add %11, %35 : tensor<2xi32>
    %37 = stablehlo.select %33, %36, %11 : tensor<2xi1>, tensor<2xi32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %39 = "stablehlo.gather"(%30, %38) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>} : (tensor<2xi32>, tensor<2x1xi32>) -> tensor<2xi32>
    %40 = stablehlo.subtract %25, %39 : tensor<2xi32>
    %41 = stablehlo.constant dense<0> : tensor<i32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<i32>) -> tensor<4096x1x2xi32>
    %43 = stablehlo.compare  GE, %9, %42,  SIGNED : (tensor<4096x1x2xi32>, tensor<4096x1x2xi32>) -> tensor<4096x1x2xi1>
    %44 = stablehlo.broadcast_in_dim %40, dims = [2] : (tensor<2xi32>) -> tensor<1x1x2xi32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<1x1x2xi32>) -> tensor<4096x1x2xi32>
    %46 = stablehlo.compare  LE, %9, %45,  SIGNED : (tensor<4096x1x2xi32>, tensor<4096x1x2xi32>) -> tensor<4096x1x2xi1>
    %47 = stablehlo.and %43, %46 : tensor<4096x1x2xi1>
    %48 = stablehlo.constant dense<true> : tensor<i1>
    %49 = stablehlo.reduce(%47 init: %48) applies stablehlo.and across dimensions = [2] : (tensor<4096x1x2xi1>, tensor<i1>) -> tensor<4096x1xi1>
    %50 = "stablehlo.gather"(%arg0, %9) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>} : (tensor<4096x1024xf32>, tensor<4096x1x2xi32>) -> tensor<4096x1xf32>
    %51 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [] : (tensor<f32>) -> tensor<4096x1xf32>
    %53 = stablehlo.select %49, %50, %52 : tensor<4096x1xi1>, tensor<4096x1xf32>
    return %53, %9 : tensor<4096x1xf32>, tensor<4096x1x2xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4096x1x2xi32>, %arg1: tensor<4096x1xf32>) -> tensor<4096x1024xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4096x1024xf32>
    %2 = "stablehlo.scatter"(%1, %arg0, %arg1) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) {indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false} : (tensor<4096x1024xf32>, tensor<4096x1x2xi32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
    return %2 : tensor<4096x1024xf32>
  }
}
